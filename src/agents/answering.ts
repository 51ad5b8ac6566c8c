import type { PermissionAnswer, PermissionRequest } from "./acp/connection.ts";
import type { SessionEvent } from "./event.ts";
import { chosenBy, decisionOf, Questions } from "./questions.ts";
import type { PendingPermission, Permit } from "./sessions.ts";

/** Who is told of an agent's questions. */
export interface AnsweringHandlers {
  happened(event: SessionEvent): Promise<void>;
  /** A question waits, or waits no more. */
  changed(): void;
  /** A question waits for its answer. */
  waits(): void;
}

/** A question, until its answer is told. */
interface Asked {
  readonly over: AbortController;
  readonly told: Promise<void>;
}

/** Answers an agent's questions for permission: all one way, or as whoever is asked does. */
export class Answering {
  readonly #permit: Permit;
  readonly #told: AnsweringHandlers;
  readonly #questions = new Questions();
  /** Those that are not answered yet, or whose answer is not told yet. */
  readonly #asked = new Set<Asked>();

  constructor(permit: Permit, told: AnsweringHandlers) {
    this.#permit = permit;
    this.#told = told;
  }

  /** The questions that wait, oldest first. */
  get pending(): readonly PendingPermission[] {
    return this.#questions.pending;
  }

  /** The answer to a question; first the question is told of, then the answer. */
  asked(request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer> {
    const over = new AbortController();
    const answer = this.#ask(request, AbortSignal.any([signal, over.signal]));
    const asked = { over, told: answer.then(noMatter, noMatter) };
    this.#asked.add(asked);
    void asked.told.then(() => this.#asked.delete(asked));
    return answer;
  }

  /** @throws Failure as `Questions` */
  answer(toolCallId: string, optionId: string): void {
    this.#questions.answer(toolCallId, optionId);
  }

  /** Nobody will answer what waits. Comes back when that is told, also of a question that nobody has been told of yet. */
  async cancel(): Promise<void> {
    const asked = [...this.#asked];
    for (const { over } of asked) over.abort();
    await Promise.all(asked.map(({ told }) => told));
  }

  async #ask(request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer> {
    const { toolCallId, options } = request;
    await this.#told.happened({ kind: "agent-prompt", toolCallId, options });
    const answer = await this.#answerTo(request, signal);
    const option = answer === "cancelled" ? undefined : options.find(({ optionId }) => optionId === answer.optionId);
    const decision = option === undefined ? "cancelled" : decisionOf(option);
    const chosen = option === undefined ? {} : { optionId: option.optionId };
    await this.#told.happened({ kind: "permission-resolved", toolCallId, decision, ...chosen });
    this.#told.changed();
    return answer;
  }

  #answerTo(request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer> {
    if (this.#permit !== "ask") {
      const option = chosenBy(this.#permit, request.options);
      return Promise.resolve(option === undefined ? "cancelled" : { optionId: option.optionId });
    }
    const answer = this.#questions.ask(request, signal);
    this.#told.changed();
    if (this.#questions.pending.length > 0) this.#told.waits();
    return answer;
  }
}

function noMatter(): void {}
