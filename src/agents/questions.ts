import { Failure } from "../platform/failure.ts";
import type { PermissionAnswer, PermissionRequest } from "./acp/connection.ts";
import type { PermissionOption } from "./event.ts";
import type { PendingPermission, Permit } from "./sessions.ts";

/** The option by which a question is answered that nobody is asked; undefined when it offers none that would do. */
export function chosenBy(
  permit: Exclude<Permit, "ask">,
  options: readonly PermissionOption[],
): PermissionOption | undefined {
  const kinds = permit === "allow" ? ["allow_once", "allow_always"] : ["reject_once", "reject_always"];
  return kinds.map((kind) => options.find((option) => option.kind === kind)).find((option) => option !== undefined);
}

/** What choosing `option` means. */
export function decisionOf({ kind }: PermissionOption): "approve" | "deny" {
  return kind.startsWith("reject") ? "deny" : "approve";
}

interface Question {
  readonly request: PermissionRequest;
  answer(answer: PermissionAnswer): void;
}

/** The questions of an agent that wait for an answer. */
export class Questions {
  readonly #open: Question[] = [];

  /** Those that wait, oldest first. */
  get pending(): readonly PendingPermission[] {
    return this.#open.map(({ request }) => request);
  }

  /** Comes back with the answer; `cancelled` when the signal aborts. */
  ask(request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer> {
    return new Promise((resolve) => {
      const question: Question = {
        request,
        answer: (answer) => {
          signal.removeEventListener("abort", leave);
          this.#open.splice(this.#open.indexOf(question), 1);
          resolve(answer);
        },
      };
      const leave = (): void => question.answer("cancelled");
      this.#open.push(question);
      signal.addEventListener("abort", leave, { once: true });
      if (signal.aborted) leave();
    });
  }

  /** @throws Failure not-found: no such question · bad-request: it does not offer that */
  answer(toolCallId: string, optionId: string): void {
    const question = this.#open.find(({ request }) => request.toolCallId === toolCallId);
    if (question === undefined) {
      throw new Failure("not-found", "no question with this toolCallId waits for an answer: it may have been answered");
    }
    const { options } = question.request;
    if (!options.some((option) => option.optionId === optionId)) {
      const offered = options.map((option) => option.optionId).join(", ");
      throw new Failure("bad-request", `optionId must be one of the options of the question: ${offered}`);
    }
    question.answer({ optionId });
  }
}
