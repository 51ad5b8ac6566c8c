import { marksIn } from "./tapes.ts";

/** An item as far as it is looked at. */
export interface NumberedItem {
  readonly id?: string;
  readonly ref: string;
  readonly text?: string;
  readonly summary?: string;
}

/** Faults that are told of one client. */
const MOST_FAULTS = 10;

/** What a client has been given of a chat of numbered records, and what was wrong with it. */
export class Received {
  readonly name: string;
  /** By number, the item that holds it. */
  readonly #places = new Map<number, string>();
  /** By id, the text of an item that may come again. */
  readonly #texts = new Map<string, string>();
  readonly #faults: string[] = [];
  #next = 0;
  #generation: number | undefined;
  #newest = 0;
  #resets = 0;

  constructor(name: string) {
    this.name = name;
  }

  /** Different records received, of the present generation. */
  get count(): number {
    return this.#places.size;
  }

  /** How many records from 0 on have come without a gap. */
  get unbroken(): number {
    while (this.#places.has(this.#next)) this.#next++;
    return this.#next;
  }

  /** Which file the records are of; undefined before the first. */
  get generation(): number | undefined {
    return this.#generation;
  }

  get resets(): number {
    return this.#resets;
  }

  get faults(): readonly string[] {
    return this.#faults;
  }

  has(n: number): boolean {
    return this.#places.has(n);
  }

  /** Takes the items of a page that follows what came before. */
  take(items: readonly NumberedItem[]): void {
    for (const item of items) this.#takeOne(item);
  }

  /** What was shown is of a chat that is no more. */
  reset(): void {
    this.#resets++;
    this.#places.clear();
    this.#texts.clear();
    this.#next = 0;
    this.#generation = undefined;
  }

  fault(what: string): void {
    if (this.#faults.length < MOST_FAULTS) this.#faults.push(`${this.name}: ${what}`);
  }

  #takeOne({ id, ref, text = "" }: NumberedItem): void {
    const marks = marksIn(text);
    if (marks.length === 0) this.fault(`an item without a number: ${ref} ${text.slice(0, 80)}`);
    if (id !== undefined) {
      const before = this.#texts.get(id) ?? "";
      if (!text.startsWith(before)) this.fault(`${id} went back from ${before.length} to ${text.length} characters`);
      this.#texts.set(id, text);
    }
    for (const { generation, n } of marks) {
      this.#generation ??= generation;
      if (generation < this.#newest)
        this.fault(`record ${n} of file ${generation} after those of file ${this.#newest}`);
      this.#newest = Math.max(this.#newest, generation);
      if (generation !== this.#generation) {
        this.fault(`record ${n} of file ${generation} among those of file ${this.#generation}`);
      }
      const place = this.#places.get(n);
      if (place !== undefined && (id === undefined || place !== id))
        this.fault(`record ${n} came again: ${place}, ${id ?? ref}`);
      if (id === undefined && n > 0 && !this.#places.has(n - 1))
        this.fault(`record ${n} came before the one before it`);
      this.#places.set(n, id ?? ref);
    }
  }
}
