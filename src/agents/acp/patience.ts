import { Failure } from "../../platform/failure.ts";
import type { Timer } from "../../platform/timer.ts";

/** How long an agent may take to come up. */
export class Patience {
  readonly #cancel: () => void;
  #waitingFor = "";

  /** `over` is called once, when `ms` milliseconds have passed, with what the agent did not answer. */
  constructor(timer: Timer, ms: number, over: (why: Failure) => void) {
    this.#cancel = timer.after(ms, () => {
      over(new Failure("failed", `the agent did not answer ${this.#waitingFor} within ${ms / 1000} s`));
    });
  }

  /** `answer`, which the agent owes to the request `method`. */
  async for<T>(method: string, answer: Promise<T>): Promise<T> {
    this.#waitingFor = method;
    return await answer;
  }

  /** It is not needed any more. */
  end(): void {
    this.#cancel();
  }
}
