import type { Clock } from "../../src/platform/clock.ts";
import type { Timer } from "../../src/platform/timer.ts";
import { at } from "./fake-store.ts";

/** Time that passes when it is told to. */
export class FakeTime implements Clock, Timer {
  #now = 1_800_000_000_000;
  #tasks: { readonly due: number; readonly task: () => void }[] = [];

  now(): ReturnType<typeof at> {
    return at(this.#now);
  }

  after(ms: number, task: () => void): () => void {
    const entry = { due: this.#now + ms, task };
    this.#tasks.push(entry);
    return () => {
      this.#tasks = this.#tasks.filter((each) => each !== entry);
    };
  }

  /** Tasks that are still to come. */
  get pending(): number {
    return this.#tasks.length;
  }

  /** Lets `ms` milliseconds pass and does what is due. */
  pass(ms: number): void {
    this.#now += ms;
    const due = this.#tasks.filter((each) => each.due <= this.#now).sort((a, b) => a.due - b.due);
    this.#tasks = this.#tasks.filter((each) => each.due > this.#now);
    for (const { task } of due) task();
  }
}
