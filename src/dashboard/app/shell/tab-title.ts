import { readableLine } from "../../../transcript/printable.ts";

const PROGRAM = "agent-bridge";

/** What the tab is called. */
export class TabTitle {
  /** Without the mark. */
  text = PROGRAM;
  #unseen = 0;

  /** `name` is what is shown; "" is the program alone. */
  set(name: string): void {
    const line = readableLine(name);
    this.text = line === "" ? PROGRAM : `${line} · ${PROGRAM}`;
    this.#show();
  }

  /** Marks it with the number of what waits and was not looked at. */
  mark(unseen: number): void {
    this.#unseen = unseen;
    this.#show();
  }

  #show(): void {
    document.title = this.#unseen === 0 ? this.text : `(${this.#unseen}) ${this.text}`;
  }
}
