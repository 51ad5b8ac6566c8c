import type { Input, TerminalSize } from "../../src/commands/input.ts";
import type { Interrupt } from "../../src/commands/interruption.ts";
import { Bell } from "../../src/platform/bell.ts";

/** Someone at a terminal, or what a pipe brings: what a test types comes in at once. */
export class Typist implements Input {
  readonly isTerminal: boolean;
  isRaw = false;
  #size: TerminalSize | undefined = { columns: 80, rows: 24 };
  #waiting: Uint8Array[] = [];
  #ended = false;
  readonly #bell = new Bell();
  readonly #sizeBell = new Bell();
  readonly #interrupts: Interrupt[] = [];
  readonly #interruptBell = new Bell();

  constructor(isTerminal: boolean) {
    this.isTerminal = isTerminal;
  }

  type(text: string | Uint8Array): void {
    this.#waiting.push(typeof text === "string" ? Buffer.from(text) : text);
    this.#bell.ring();
  }

  /** Nothing more will be typed. */
  end(): void {
    this.#ended = true;
    this.#bell.ring();
  }

  resize(size: TerminalSize): void {
    this.#size = size;
    this.#sizeBell.ring();
  }

  interrupt(how: Interrupt): void {
    this.#interrupts.push(how);
    this.#interruptBell.ring();
  }

  async *parts(signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
    while (!signal.aborted) {
      const part = this.#waiting.shift();
      if (part !== undefined) yield part;
      else if (this.#ended) return;
      else await this.#bell.listen(signal);
    }
  }

  async editor(): Promise<undefined> {}

  async dropTyped(): Promise<boolean> {
    if (!this.isTerminal) return false;
    return this.#waiting.splice(0).length > 0;
  }

  raw(): () => void {
    this.isRaw = true;
    return () => {
      this.isRaw = false;
    };
  }

  size(): TerminalSize | undefined {
    return this.#size;
  }

  async *resized(signal: AbortSignal): AsyncGenerator<void, void> {
    for (;;) {
      await this.#sizeBell.listen(signal);
      if (signal.aborted) return;
      yield;
    }
  }

  /** What `Context.interrupts` gives. */
  readonly interrupts = async function* (this: Typist, signal: AbortSignal): AsyncGenerator<Interrupt, void> {
    while (!signal.aborted) {
      const next = this.#interrupts.shift();
      if (next === undefined) await this.#interruptBell.listen(signal);
      else yield next;
    }
  }.bind(this);
}
