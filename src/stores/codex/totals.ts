import { parseRecords } from "../../jsonl/parse.ts";
import type { ByteSource } from "../../jsonl/source.ts";
import type { Breather } from "../../platform/breather.ts";
import { asObject, asText } from "../../platform/read.ts";
import type { Tokens } from "../../transcript/entry.ts";
import { glanceAt } from "./glance.ts";
import { addUsage, NO_USAGE, type RawUsage, rawUsageOf, tokensOf } from "./usage.ts";

const BLOCK_BYTES = 1024 * 1024;

/**
 * The tokens of one rollout's own records, counted once forward and on from there when it grows. Since 0.156
 * `token_usage_record` states each response; before, `token_count` states a running total, which is repeated, goes on
 * from a parent's, and falls when turns are taken back, so its rises are what was used. A file with both is counted by
 * totals up to its first record and by records from there on.
 */
export class TokenCount {
  readonly #thread: string;
  #offset: number;
  #sum: RawUsage = NO_USAGE;
  #last: RawUsage | undefined;
  #byRecords = false;
  readonly #responses = new Set<string>();

  constructor(thread: string, ownStart: number) {
    this.#thread = thread;
    this.#offset = ownStart;
  }

  /** What was counted so far. */
  get tokens(): RawUsage {
    return this.#sum;
  }

  /** Bytes of `size` that are still to be counted. */
  left(size: number): number {
    return Math.max(0, size - this.#offset);
  }

  /** Counts the complete lines that `source` has by now; `breather` lets others run. */
  async countOn(source: ByteSource, breather: Breather): Promise<void> {
    let block = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, this.left(source.size)));
    while (this.#offset < source.size) {
      await breather.pause();
      const held = block.subarray(0, source.read(block, this.#offset));
      const end = held.lastIndexOf(0x0a) + 1;
      if (end > 0) {
        this.#lines(held.subarray(0, end));
        this.#offset += end;
      } else if (held.length < block.length || this.#offset + held.length >= source.size) {
        return;
      } else {
        block = Buffer.allocUnsafe(block.length * 2);
        // Counts are short records: the rest of a long line is passed over.
        const next = await nextLine(source, this.#offset + held.length, block, breather);
        if (next === undefined) return;
        this.#offset = next;
        block = Buffer.allocUnsafe(BLOCK_BYTES);
      }
    }
  }

  #lines(bytes: Buffer): void {
    if (MARKS.some((mark) => bytes.includes(mark))) this.#each(bytes);
  }

  #each(bytes: Buffer): void {
    let start = 0;
    for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
      const line = bytes.subarray(start, end);
      start = end + 1;
      const { type, inner } = glanceAt(line);
      if (type !== "token_usage_record" && (type !== "event_msg" || inner !== "token_count")) continue;
      const payload = asObject(asObject(parseRecords(line)[0])?.payload);
      if (payload === undefined) continue;
      if (type === "token_usage_record") this.#record(payload);
      else if (!this.#byRecords) this.#total(asObject(payload.info));
    }
  }

  #record(payload: { readonly [key: string]: unknown }): void {
    const usage = rawUsageOf(payload.usage);
    if (usage === undefined || payload.thread_id !== this.#thread) return;
    this.#byRecords = true;
    const response = asText(payload.response_id);
    if (response !== undefined && this.#responses.has(response)) return;
    if (response !== undefined) this.#responses.add(response);
    this.#sum = addUsage(this.#sum, usage);
  }

  #total(info: { readonly [key: string]: unknown } | undefined): void {
    const total = rawUsageOf(info?.total_token_usage);
    if (total === undefined) return;
    const last = rawUsageOf(info?.last_token_usage) ?? NO_USAGE;
    const before = this.#last === undefined || total.total < this.#last.total ? addUsage(total, last, -1) : this.#last;
    this.#sum = addUsage(this.#sum, addUsage(total, before, -1));
    this.#last = total;
  }
}

const MARKS = [Buffer.from("token_count"), Buffer.from("token_usage_record")];

/** Where the next line starts behind `at`; undefined when there is none yet. */
async function nextLine(
  source: ByteSource,
  from: number,
  block: Buffer,
  breather: Breather,
): Promise<number | undefined> {
  for (let at = from; at < source.size; at += block.length) {
    await breather.pause();
    const newline = block.subarray(0, source.read(block, at)).indexOf(0x0a);
    if (newline >= 0) return at + newline + 1;
  }
  return undefined;
}

/** The sum of several counts; without figures when the store states none (0.31 and older). */
export function sumOf(counts: readonly RawUsage[]): Tokens {
  if (counts.every(({ total }) => total === 0)) return {};
  return tokensOf(counts.reduce((sum, usage) => addUsage(sum, usage), NO_USAGE));
}
