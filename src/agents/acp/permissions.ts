import { asArray, asObject, asText, type JsonObject } from "../../platform/read.ts";
import { clip } from "../../transcript/clip.ts";
import type { PermissionOption } from "../event.ts";
import type { AcpHandlers, PermissionAnswer, PermissionRequest } from "./connection.ts";
import type { RequestId } from "./message.ts";
import { CODES, Refusal } from "./refusal.ts";

/** An agent that asks more questions at a time has lost its way: they are answered `cancelled`. */
const MOST_QUESTIONS = 64;

/** An answer names the question and the option: longer names than this are none that anyone could give back. */
const MOST_NAME = 64 * 1024;

/** Of what a call is given, a question shows so much: characters of JSON. The call's own record has all of it. */
const MOST_INPUT = 4_000;

/** The agent's questions that nobody has answered yet. */
export class Permissions {
  readonly #ask: AcpHandlers["permission"];
  readonly #open = new Map<RequestId, AbortController>();

  constructor(ask: AcpHandlers["permission"]) {
    this.#ask = ask;
  }

  /** Nobody answers any more what is asked now: all of it is answered `cancelled`. */
  cancel(): void {
    for (const question of [...this.#open.values()]) question.abort();
  }

  /** The agent takes back the question that it asked as `id`. */
  withdraw(id: unknown): void {
    for (const [open, question] of this.#open) if (open === id) question.abort(WITHDRAWN);
  }

  /** Answers `session/request_permission` about a call that is given `input`. @throws Refusal: the agent took it back */
  async answer(id: RequestId, params: JsonObject, input?: unknown): Promise<object> {
    const request = permissionRequest(id, params, input);
    // Without something to choose, or a way to say which question is meant, no answer but this one can be given.
    if (
      request.options.length === 0 ||
      !isNamable(request.toolCallId) ||
      this.#open.size >= MOST_QUESTIONS ||
      this.#open.has(id)
    )
      return outcome("cancelled");
    const question = new AbortController();
    this.#open.set(id, question);
    try {
      return outcome(await this.#answerOrAbort(request, question.signal));
    } finally {
      this.#open.delete(id);
    }
  }

  /** Whoever is asked may answer late or never; the agent is answered as soon as the question is over. */
  async #answerOrAbort(request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer> {
    const over = new Promise<PermissionAnswer>((resolve, reject) => {
      const end = (): void =>
        signal.reason === WITHDRAWN ? reject(new Refusal(CODES.cancelled, "Request cancelled")) : resolve("cancelled");
      signal.addEventListener("abort", end, { once: true });
    });
    return await Promise.race([this.#ask(request, signal), over]);
  }
}

/** Why a question is over that the agent took back. */
const WITHDRAWN = "withdrawn";

/** What the agent asks for, read tolerantly. A question about no call is one about itself. */
function permissionRequest(id: RequestId, params: JsonObject, given: unknown): PermissionRequest {
  const call = asObject(params.toolCall);
  const title = asText(call?.title) ?? asText(call?.name) ?? asText(call?.kind);
  return {
    toolCallId: asText(call?.toolCallId) ?? `permission-${id}`,
    ...(title !== undefined && { title }),
    ...(given !== undefined && { input: clip(JSON.stringify(given), MOST_INPUT).text }),
    options: (asArray(params.options) ?? []).flatMap((option) => permissionOption(option) ?? []),
  };
}

function permissionOption(value: unknown): PermissionOption | undefined {
  const fields = asObject(value);
  const optionId = asText(fields?.optionId);
  if (optionId === undefined || !isNamable(optionId)) return undefined;
  return { optionId, name: asText(fields?.name) ?? optionId, kind: asText(fields?.kind) ?? "" };
}

/** Whether it can be said in an answer, as text that is sent as UTF-8. */
function isNamable(name: string): boolean {
  return name.length <= MOST_NAME && !/\p{Surrogate}/u.test(name);
}

function outcome(answer: PermissionAnswer): object {
  return {
    outcome: answer === "cancelled" ? { outcome: "cancelled" } : { outcome: "selected", optionId: answer.optionId },
  };
}
