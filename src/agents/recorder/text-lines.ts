/** What text of the agent comes as. */
export type TextKind = "text-delta" | "thought";

/** Told of each record of text in turn. `partial`: more of its line is to come. */
export type TextRecord = (kind: TextKind, text: string, partial: boolean) => void;

/**
 * Characters of one record of text. However JSON has to write them, such a record is shorter than what a page of a chat
 * may consume, so a line without an end is shown like any other.
 */
const MOST_CHARACTERS = 64 * 1024;

/**
 * Cuts text that comes in chunks into records: one a completed line, with its newline. What has no newline yet waits until
 * `settle` or `flush`. The texts of all records, joined, are what came.
 */
export class TextLines {
  readonly #record: TextRecord;
  #kind: TextKind = "text-delta";
  #rest = "";

  constructor(record: TextRecord) {
    this.#record = record;
  }

  /** Whether something waits that `settle` would write. */
  get waits(): boolean {
    return this.#rest.length > 1 || (this.#rest !== "" && !endsInHalf(this.#rest));
  }

  /** Takes a chunk. What waits of the other kind came before it, and is flushed. */
  take(kind: TextKind, chunk: string): void {
    if (chunk === "") return;
    if (kind !== this.#kind) this.flush();
    this.#kind = kind;
    let from = 0;
    for (let newline = chunk.indexOf("\n"); newline >= 0; newline = chunk.indexOf("\n", from)) {
      const line = this.#rest + chunk.slice(from, newline + 1);
      from = newline + 1;
      this.#rest = "";
      this.#record(kind, this.#beginning(line), false);
    }
    this.#rest = this.#beginning(this.#rest + (from === 0 ? chunk : chunk.slice(from)));
  }

  /** Writes what waits as partial; half a character waits on for its other half. */
  settle(): void {
    const half = endsInHalf(this.#rest);
    const text = half ? this.#rest.slice(0, -1) : this.#rest;
    this.#rest = half ? this.#rest.slice(-1) : "";
    if (text !== "") this.#record(this.#kind, text, true);
  }

  /** Writes what waits, for something else comes next. */
  flush(): void {
    const text = this.#rest;
    this.#rest = "";
    if (text !== "") this.#record(this.#kind, text, false);
  }

  /** Writes what is too long for one record as partial ones; gives back what is left. */
  #beginning(text: string): string {
    if (text.length <= MOST_CHARACTERS) return text;
    let from = 0;
    while (text.length - from > MOST_CHARACTERS) {
      const whole = text.slice(from, from + MOST_CHARACTERS);
      const part = endsInHalf(whole) ? whole.slice(0, -1) : whole;
      this.#record(this.#kind, part, true);
      from += part.length;
    }
    return text.slice(from);
  }
}

/** Whether the last code unit is the first half of a surrogate pair. */
function endsInHalf(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}
