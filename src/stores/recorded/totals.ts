import { Continuity } from "../../jsonl/continuity.ts";
import { FILE_START, type JsonlCursor } from "../../jsonl/cursor.ts";
import { pageBuffer, readPage } from "../../jsonl/page.ts";
import { Breather } from "../../platform/breather.ts";
import { type FileStamp, type OpenFile, sameStamp, withFile } from "../../platform/files.ts";
import { Recent } from "../../platform/recent.ts";
import type { Tokens } from "../../transcript/entry.ts";
import { PAGE_BYTES } from "../../transcript/limits.ts";
import { roundedUsd } from "../../transcript/usd.ts";
import type { Totals } from "../store.ts";
import type { RecordedPlace } from "./chats.ts";
import { eventsOf } from "./record.ts";
import { type Figures, figuresOf } from "./usage.ts";

/** Recordings whose count is remembered. */
const MOST_RECORDINGS = 256;
/** So much is counted while the asker waits; more goes on in the background. */
const AT_ONCE_BYTES = 4 * 1024 * 1024;

const USAGE = Buffer.from('"usage_');
const NAMES = ["input", "output", "cacheRead", "cacheWrite", "reasoning", "costUsd"] as const;
type Name = (typeof NAMES)[number];

/**
 * Sums up figures that are cumulative: the last of each counts. One that goes down began anew (the agent was restarted),
 * so what it had come to is added.
 */
export class CumulativeSum {
  readonly #ended = new Map<Name, number>();
  readonly #last = new Map<Name, number>();

  add({ tokens, costUsd }: Figures): void {
    for (const name of NAMES) {
      const value = name === "costUsd" ? costUsd : tokens[name];
      if (value === undefined) continue;
      const last = this.#last.get(name);
      if (last !== undefined && value < last) this.#ended.set(name, (this.#ended.get(name) ?? 0) + last);
      this.#last.set(name, value);
    }
  }

  totals(): Totals {
    const tokens: { -readonly [name in keyof Tokens]: number } = {};
    let costUsd: number | undefined;
    for (const [name, last] of this.#last) {
      const ended = this.#ended.get(name);
      const sum = last + (ended ?? 0);
      // What is stated stands as it is stated; only what was added here can carry an error of ours.
      if (name === "costUsd") costUsd = ended === undefined ? last : roundedUsd(sum);
      else tokens[name] = sum;
    }
    return { tokens, ...(costUsd !== undefined && { costUsd }) };
  }
}

interface Count {
  sum: CumulativeSum;
  next: JsonlCursor;
  stamp: FileStamp | undefined;
  edition: number | undefined;
  running: Promise<void> | undefined;
}

/** Counts the tokens of recordings, each from where its last count stopped. */
export class TotalsCounter {
  readonly #counts = new Recent<string, Count>(MOST_RECORDINGS);
  readonly #continuity = new Continuity(MOST_RECORDINGS);
  /** Bytes of recordings that were read so far. */
  bytesRead = 0;

  /** The totals as of now; undefined when there is much to count, which then goes on in the background. */
  async totals(place: RecordedPlace): Promise<Totals | undefined> {
    const count = this.#countOf(place);
    if (count.running !== undefined) return undefined;
    const stamp = await withFile(place.root, place.file, (open) => open.stamp);
    if (count.stamp === undefined || !sameStamp(count.stamp, stamp)) {
      const left = stamp.size - (stamp.size < count.next.offset ? 0 : count.next.offset);
      const run = this.#run(place, count).finally(() => {
        count.running = undefined;
      });
      count.running = run;
      if (left > AT_ONCE_BYTES) {
        run.catch(() => undefined);
        return undefined;
      }
      await run;
    }
    return count.sum.totals();
  }

  #countOf(place: RecordedPlace): Count {
    const held = this.#counts.get(place.file);
    if (held !== undefined) return held;
    const count: Count = {
      sum: new CumulativeSum(),
      next: FILE_START,
      stamp: undefined,
      edition: undefined,
      running: undefined,
    };
    this.#counts.set(place.file, count);
    return count;
  }

  #run(place: RecordedPlace, count: Count): Promise<void> {
    return withFile(place.root, place.file, async (open) => {
      const { edition } = this.#continuity.now(open);
      const other = count.edition !== undefined && count.edition !== edition;
      if (other || !(await this.#read(open, count))) {
        count.sum = new CumulativeSum();
        count.next = FILE_START;
        await this.#read(open, count);
      }
      count.stamp = open.stamp;
      count.edition = edition;
    });
  }

  /** Counts what is new; false when the file does not go on where it was left. */
  async #read(open: OpenFile, count: Count): Promise<boolean> {
    const breather = new Breather();
    const buffer = pageBuffer(PAGE_BYTES);
    for (;;) {
      const { lines, next, reset } = await readPage(open, count.next, buffer);
      if (reset) return false;
      for (const line of lines) {
        if (line.kind === "oversized" || !line.bytes.includes(USAGE)) continue;
        for (const event of eventsOf(line.bytes)) {
          const figures = figuresOf(event);
          if (figures !== undefined) count.sum.add(figures);
        }
      }
      if (next.offset === count.next.offset) return true;
      this.bytesRead += next.offset - count.next.offset;
      count.next = next;
      await breather.pause();
    }
  }
}
