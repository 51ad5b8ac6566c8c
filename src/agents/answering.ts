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

/** Answers an agent's questions for permission: all one way, or as whoever is asked does. */
export class Answering {
  readonly #permit: Permit;
  readonly #told: AnsweringHandlers;
  readonly #questions = new Questions();
  #isOver = false;

  constructor(permit: Permit, told: AnsweringHandlers) {
    this.#permit = permit;
    this.#told = told;
  }

  /** The questions that wait, oldest first. */
  get pending(): readonly PendingPermission[] {
    return this.#questions.pending;
  }

  /** The answer to a question; first the question is told of, then the answer. */
  async asked(request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer> {
    const { toolCallId, options } = request;
    await this.#told.happened({ kind: "agent-prompt", toolCallId, options });
    const answer = await this.#answerTo(request, signal);
    if (answer === "cancelled" && this.#isOver) return answer;
    const option = answer === "cancelled" ? undefined : options.find(({ optionId }) => optionId === answer.optionId);
    const decision = option === undefined ? "cancelled" : decisionOf(option);
    const chosen = option === undefined ? {} : { optionId: option.optionId };
    await this.#told.happened({ kind: "permission-resolved", toolCallId, decision, ...chosen });
    this.#told.changed();
    return answer;
  }

  /** @throws Failure as `Questions` */
  answer(toolCallId: string, optionId: string): void {
    this.#questions.answer(toolCallId, optionId);
  }

  /** Nobody will answer what waits. Comes back when that is told. */
  async cancel(): Promise<void> {
    if (this.pending.length === 0) return;
    this.#questions.cancel();
    await new Promise(setImmediate);
  }

  /** The session ends: what nobody has answered by now stays unanswered. */
  leave(): void {
    this.#isOver = true;
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
