import type { Bell } from "../platform/bell.ts";
import { type Input, linesOf } from "./input.ts";
import { type Poured, Tap } from "./repl/tap.ts";

/** The lines that someone types, or that a pipe brings, taken when they are wanted. */
export interface TypedLines {
  /** Shows that a line is wanted, with what was typed of it already. Of a pipe nobody is asked. */
  ask(prompt: string): Promise<void>;
  /** The next line, if it has come; no value at the end. */
  take(): Poured<string> | undefined;
  /** Takes a Ctrl-C that came as a key, if one did. */
  takeStop(): boolean;
  /** What a terminal brought so far is no line: from now on only what is typed after this. Whether anything was dropped. */
  fresh(): Promise<boolean>;
  /** Reads no more. */
  close(): void;
}

/** Lines as the system's terminal lets them be edited, or of a pipe. The bell rings when one has come. */
export class PlainLines implements TypedLines {
  readonly #input: Input;
  readonly #bell: Bell;
  readonly #show: (text: string) => Promise<void>;
  #reading = new AbortController();
  #lines: Tap<string> | undefined;

  /** `show` writes what asks for a line. */
  constructor(input: Input, bell: Bell, show: (text: string) => Promise<void>) {
    this.#input = input;
    this.#bell = bell;
    this.#show = show;
  }

  async ask(prompt: string): Promise<void> {
    if (this.#input.isTerminal) await this.#show(prompt);
  }

  take(): Poured<string> | undefined {
    this.#lines ??= new Tap(linesOf(this.#input.parts(this.#reading.signal)), this.#bell);
    return this.#lines.take();
  }

  takeStop(): boolean {
    return false;
  }

  async fresh(): Promise<boolean> {
    if (!this.#input.isTerminal) return false;
    this.close();
    this.#reading = new AbortController();
    this.#lines = undefined;
    // What was read and not taken is given back first.
    await new Promise(setImmediate);
    return this.#input.dropTyped();
  }

  close(): void {
    this.#reading.abort();
  }
}
