import type { BytePool } from "../../jsonl/buffers.ts";
import { type ByteOffset, byteOffsetOf } from "../../jsonl/cursor.ts";
import { LookBack } from "../../jsonl/look-back.ts";
import type { ByteSource } from "../../jsonl/source.ts";
import { LOOK_BACK_BYTES, PAGE_BYTES } from "../../transcript/limits.ts";
import type { TurnSign } from "./turn-signs.ts";

/*
 * A rollback says how many of the user's turns it takes back, not where they began. What the user sends while a turn runs
 * is part of that turn: it is one turn from its `task_started` on (0.101 and newer). Without such a record (0.100 and
 * older) each prompt begins a turn of its own.
 */

/** Tells the signs of a line's records, in their order. Most lines have none, which their first bytes tell. */
export interface SignReader {
  mayHave(head: Buffer, start: ByteOffset): boolean;
  of(line: Buffer, start: ByteOffset): readonly TurnSign[];
}

interface PlacedSign {
  readonly start: ByteOffset;
  readonly sign: TurnSign;
}

/** So much of a line's beginning is looked at. */
const HEAD_BYTES = 640;
/** So many signs are gone through for one rollback. */
const MOST_SIGNS = 4096;
const NEWLINE = Buffer.from("\n");

/**
 * Finds the prompts that rollbacks go back to, no further back than 8 MiB. Asked for rollbacks in their order, it looks at
 * each line once for all of them.
 */
export class Rollbacks {
  readonly #back: LookBack;
  readonly #reader: SignReader;
  /** The signs of the lines from `from` up to `to`, where a line begins, in file order. */
  #known: { readonly from: number; to: number; readonly signs: PlacedSign[] } | undefined;

  constructor(source: ByteSource, pool: BytePool, reader: SignReader) {
    this.#back = new LookBack(source, LOOK_BACK_BYTES, pool);
    this.#reader = reader;
  }

  /** Gives back what was read. */
  close(): void {
    this.#back.close();
  }

  /** Where the first prompt of the last `turns` turns is that are left before `start`; undefined where it can't be known. */
  promptBefore(start: ByteOffset, turns: number): ByteOffset | undefined {
    const lowest = Math.max(0, start - LOOK_BACK_BYTES);
    const signs = this.#signs(lowest, start);
    let left = turns;
    let first: ByteOffset | undefined;
    // What takes turns back takes those that stand before it, so those are passed over in going back.
    let gone = 0;
    const take = (prompt: ByteOffset): void => {
      if (gone > 0) gone--;
      else {
        first = prompt;
        left--;
      }
    };
    let prompts: ByteOffset[] = [];
    const last = Math.max(0, signs.length - MOST_SIGNS);
    for (let index = signs.length - 1; index >= last && left > 0; index--) {
      const one = signs[index];
      if (one === undefined || (one.start <= lowest && lowest > 0)) break;
      if (one.sign === "prompt") {
        prompts.push(one.start);
        continue;
      }
      const turn = one.sign === "start" ? prompts.slice(-1) : prompts;
      for (const prompt of turn) if (left > 0) take(prompt);
      prompts = [];
      if (typeof one.sign === "number") gone += one.sign;
    }
    if (left > 0 && (lowest > 0 || last > 0)) return undefined;
    // All that there is stands in the window. Who takes back more turns than there are takes back all.
    for (const prompt of prompts) if (left > 0) take(prompt);
    return first;
  }

  #signs(from: number, to: number): readonly PlacedSign[] {
    const known = this.#known;
    if (known === undefined || from < known.from || to < known.to) {
      this.#known = { from, to, signs: this.#read(from, to, from === 0) };
      return this.#known.signs;
    }
    for (const sign of this.#read(known.to, to, true)) known.signs.push(sign);
    known.to = to;
    return known.signs;
  }

  /** The signs of the lines that begin in a stretch, which ends where a line begins; `whole`: so does it begin. */
  #read(from: number, to: number, whole: boolean): PlacedSign[] {
    const signs: PlacedSign[] = [];
    let end = to;
    const look = (start: ByteOffset): void => {
      for (const sign of this.#signsOf(start, end - 1).toReversed()) signs.push({ start, sign });
      end = start;
    };
    if (to - 1 > from) {
      for (const place of this.#back.places(NEWLINE, byteOffsetOf(to - 1), to - 1 - from))
        look(byteOffsetOf(place + 1));
    }
    if (whole && end > from) look(byteOffsetOf(from));
    return signs.reverse();
  }

  #signsOf(start: ByteOffset, end: number): readonly TurnSign[] {
    if (end - start >= PAGE_BYTES) return [];
    const head = this.#back.slice(start, Math.min(end, start + HEAD_BYTES));
    return this.#reader.mayHave(head, start) ? this.#reader.of(this.#back.slice(start, end), start) : [];
  }
}
