import type { SessionEvent } from "../../agents/event.ts";
import { Bell } from "../../platform/bell.ts";

/** What happens in a session, kept until it is taken. What the agent sends is held back meanwhile by no one: take it soon. */
export class Happenings {
  readonly #events: SessionEvent[] = [];
  readonly #bell = new Bell();

  add(event: SessionEvent): void {
    this.#events.push(event);
    this.#bell.ring();
  }

  /** All that happens, in order, until the signal aborts; what had happened by then is given out first. */
  async *taken(signal: AbortSignal): AsyncGenerator<readonly SessionEvent[], void> {
    for (;;) {
      const events = this.#events.splice(0);
      if (events.length > 0) yield events;
      else if (signal.aborted) return;
      else await this.#bell.listen(signal);
    }
  }
}
