import type { Insert } from "./spool.ts";
import type { DocumentWriter } from "./writer.ts";

/** A stretch of a document's body that was taken back. */
interface Stretch {
  /** Bytes. */
  readonly from: number;
  readonly to: number;
  readonly messages: number;
  readonly depth: number;
}

interface Range extends Stretch {
  /** What was taken back before inside of it, in order. */
  readonly inner: readonly Range[];
}

/** The stretches of a document that were taken back: they lie behind or inside one another. */
export class TakenBack {
  #ranges: Range[] = [];

  /** Takes in the stretch that ends where the document ends now. */
  add(stretch: Stretch): void {
    const inner: Range[] = [];
    let { from } = stretch;
    for (let last = this.#ranges.at(-1); last !== undefined && last.to > from; last = this.#ranges.at(-1)) {
      if (last.from < from) {
        // It begins among what was taken back already: only what follows that is taken back now.
        from = last.to;
        break;
      }
      inner.unshift(last);
      this.#ranges.pop();
    }
    if (from < stretch.to) this.#ranges.push({ ...stretch, from, inner });
  }

  /** What is put in between to tell them apart. `ends`: the byte behind each message, in order. */
  inserts(ends: readonly number[], how: DocumentWriter["takenBack"]): Insert[] {
    return how.kind === "fold" ? folds(this.#ranges, how) : flags(this.#ranges, ends, how.text);
  }
}

function folds(ranges: readonly Range[], how: Extract<DocumentWriter["takenBack"], { kind: "fold" }>): Insert[] {
  return ranges.flatMap(({ from, to, messages, depth, inner }) => [
    { at: from, text: how.begin(messages, depth) },
    ...folds(inner, how),
    { at: to, text: how.end(depth) },
  ]);
}

function flags(ranges: readonly Range[], ends: readonly number[], text: string): Insert[] {
  const inserts: Insert[] = [];
  let next = 0;
  for (const end of ends) {
    while ((ranges[next]?.to ?? Number.POSITIVE_INFINITY) < end) next++;
    const range = ranges[next];
    if (range === undefined) break;
    if (end > range.from) inserts.push({ at: end - 1, text });
  }
  return inserts;
}
