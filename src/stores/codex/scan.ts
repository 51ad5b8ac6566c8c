import { parseRecords } from "../../jsonl/parse.ts";
import type { ByteSource } from "../../jsonl/source.ts";
import type { Breather } from "../../platform/breather.ts";
import { asCount, asObject, asText } from "../../platform/read.ts";
import { clip, oneLine } from "../../transcript/clip.ts";
import { TITLE_CHARACTERS } from "../../transcript/limits.ts";
import type { SessionId } from "../../transcript/names.ts";
import { itemText, type SourceKind, userEventText } from "./entries.ts";
import { type Glance, glanceAt } from "./glance.ts";
import { type Header, headerByName, headerOf } from "./header.ts";
import { isContextEvent, ownWords } from "./injected.ts";
import { uuidTime } from "./rollout-name.ts";

const NEWLINE = 0x0a;

/**
 * What follows from the first records of a rollout, learnt line by line and then frozen: whose it is, where its own
 * history begins, which records tell its messages, and the first thing that was asked. A scan stops as soon as all of
 * that is settled and goes on where it stopped when the file has grown.
 */
export class HeadScan {
  header: Header | undefined;
  /** Where the thread's own records begin; undefined while that is not known. */
  ownStart: number | undefined;
  kind: SourceKind | undefined;
  /**
   * The first words in the thread's own history: what the parent asked of an agent, of a person's only the title that they
   * make, since they are kept for every thread that is listed.
   */
  firstWords: string | undefined;
  /** The model of the first turn, and (flat files) the folder, as far as they were met. */
  model: string | undefined;
  cwd: string | undefined;
  /** How far the file was looked at: always behind a newline, or inside a line too long to matter. */
  scanned = 0;
  readonly #thread: SessionId;
  /**
   * The raw user messages met so far: read only where no event or item tells them. The first so many are copies, the others
   * are of the bytes in hand.
   */
  #asks: Buffer[] = [];
  #copied = 0;
  #answered = false;
  #first = true;

  /** `thread`: the id in the file's name. */
  constructor(thread: SessionId) {
    this.#thread = thread;
  }

  /** A scan of the same thread's file that has learnt nothing yet. */
  afresh(): HeadScan {
    return new HeadScan(this.#thread);
  }

  /** Whether nothing that follows can change what was learnt. */
  get settled(): boolean {
    return this.readable && this.ownStart !== undefined && this.#answered;
  }

  /** Whether a chat can be read: what is still missing is only what lists show. */
  get readable(): boolean {
    if (this.header === undefined || this.kind === undefined) return false;
    return this.ownStart !== undefined || this.header.role === "user";
  }

  /** What a list calls the thread: its first words, also while nobody answered them yet. */
  get title(): string | undefined {
    return this.firstWords ?? this.#firstAsked();
  }

  /** Where the chat begins: copies in a person's fork are part of it, those in a child are the parent's. */
  get chatStart(): number {
    return this.header?.role === "user" ? 0 : (this.ownStart ?? 0);
  }

  /** Learns from the complete lines in `bytes`, which stand at `base` in the file. */
  take(bytes: Buffer, base: number): void {
    let start = this.scanned - base;
    for (let end = bytes.indexOf(NEWLINE, start); end >= 0 && !this.settled; end = bytes.indexOf(NEWLINE, start)) {
      this.#line(bytes.subarray(start, end), base + start);
      start = end + 1;
      this.scanned = base + start;
    }
    for (; this.#copied < this.#asks.length; this.#copied++) {
      this.#asks[this.#copied] = Buffer.from(this.#asks[this.#copied] ?? []);
    }
  }

  #line(line: Buffer, at: number): void {
    if (this.header === undefined && !this.#beginsWithout(line)) return;
    const header = this.header;
    if (header === undefined) return;
    const glance = glanceAt(line);
    if (this.ownStart === undefined) this.#seekOwn(header, line, glance, at);
    this.#first = false;
    if (glance.type === "turn_context") this.model ??= modelIn(line);
    if (this.ownStart === undefined && header.role !== "user") return;
    this.#learnKind(header, line, glance);
  }

  /**
   * Looks for the header in a first line. A file that begins with another record lost its header (a crash tore it): its
   * name says whose it is, and the record is one of its own, which is what the answer says.
   */
  #beginsWithout(line: Buffer): boolean {
    const records = parseRecords(withoutInstructions(line));
    const header = records.map(headerOf).find((found) => found !== undefined);
    const first = asObject(records.find((record) => asText(asObject(record)?.type) !== undefined));
    if (header !== undefined) this.#begin(header);
    else if (first !== undefined) this.#begin(headerByName(this.#thread, asObject(first.payload) !== undefined));
    return header === undefined && first !== undefined;
  }

  #begin(header: Header): void {
    this.header = header;
    // A pointer copies nothing; a file that never was a child's or a fork's has nothing to copy.
    if (header.historyBase !== undefined || !header.enveloped) this.ownStart = 0;
    else if (header.ownOrdinal === undefined && header.forkedFrom === undefined && header.role === "user")
      this.ownStart = 0;
    if (header.paginated) this.kind = "items";
    else if (!header.enveloped) this.kind = "responses";
  }

  /**
   * A child that inherits context, and a fork up to 0.145, begin with copies of the other thread's records (0.107 to
   * 0.171). Ids are UUIDv7, so a turn is the thread's own when it is not older than the thread.
   */
  #seekOwn(header: Header, line: Buffer, glance: Glance, at: number): void {
    if (header.ownOrdinal !== undefined) {
      const ordinal = glance.ordinal ?? asCount(asObject(parseRecords(line)[0])?.ordinal);
      if (ordinal !== undefined && ordinal >= header.ownOrdinal) this.ownStart = at;
      return;
    }
    const born = uuidTime(header.id);
    const copies = header.forkedFrom !== undefined || (this.#first && glance.type === "session_meta");
    if (born === undefined || (this.#first && !copies)) {
      this.ownStart = 0;
      return;
    }
    if (glance.type !== "event_msg" || (glance.inner !== "task_started" && glance.inner !== "turn_started")) return;
    const turn = asText(payloadOf(line)?.turn_id);
    const time = turn === undefined ? undefined : uuidTime(turn);
    if (time !== undefined && time >= born) this.ownStart = at;
  }

  /**
   * Every version since 0.34 writes the `user_message` event directly behind the person's message, so by the agent's
   * first word (or the turn's end) it is known whether a file has such events.
   */
  #learnKind(header: Header, line: Buffer, { type, inner, item, role }: Glance): void {
    const flat = !header.enveloped;
    if (type === "event_msg") {
      if (inner === "user_message") {
        // Not what the chat shows, so not what a list says of it.
        if (this.kind === "items") return;
        const payload = payloadOf(line);
        if (payload === undefined || isContextEvent(payload)) return;
        this.kind ??= "events";
        this.#asked(userEventText(payload));
      } else if (inner === "item_completed" && item === "UserMessage") {
        if (this.kind !== "items") return;
        const payload = payloadOf(line);
        if (payload?.thread_id === header.id) this.#asked(itemText(asObject(payload.item)?.content));
      } else if (
        ENDS.has(inner ?? "") ||
        inner === "agent_message" ||
        (inner === "item_completed" && item === "AgentMessage")
      ) {
        this.#answer();
      }
      return;
    }
    if (!flat && type !== "response_item") return;
    if (inner === "message" && role === "user") {
      if (header.cwd === undefined) this.cwd ??= /<cwd>([^<]+)<\/cwd>/.exec(line.toString("utf8"))?.[1];
      if (this.kind !== "items" && this.#asks.length < MOST_ASKS) this.#asks.push(line);
    } else if (inner !== "message" || role === "assistant") {
      if (inner !== undefined && !NO_ANSWER.has(inner)) this.#answer();
    }
  }

  #forgetAsks(): void {
    if (this.#asks.length === 0) return;
    this.#asks = [];
    this.#copied = 0;
  }

  #asked(words: string | undefined): void {
    this.firstWords ??= this.#beginning(words);
    if (this.firstWords === undefined || this.kind === undefined) return;
    this.#answered = true;
    this.#forgetAsks();
  }

  #answer(): void {
    this.kind ??= "responses";
    if (this.kind === "responses") this.firstWords ??= this.#firstAsked();
    this.#answered = true;
    this.#forgetAsks();
  }

  #beginning(words: string | undefined): string | undefined {
    if (words === undefined || words === "") return undefined;
    return this.header?.role === "user" ? titleOf(words) : copied(words.slice(0, WORDS_CHARACTERS));
  }

  /** The person's first words in the raw messages. */
  #firstAsked(): string | undefined {
    for (const line of this.#asks) {
      const record = asObject(parseRecords(line)[0]);
      const words = ownWords(asObject(record?.payload) ?? record ?? {});
      if (words !== undefined) return this.#beginning(words);
    }
    return undefined;
  }
}

/** Messages that the CLI puts before the person's first are fewer. */
const MOST_ASKS = 16;
/** Characters of first words that are kept: a title's, and enough to tell one task from another. */
const WORDS_CHARACTERS = 4_000;

/** `words` as a list shows them, in memory of its own: a part of a text keeps the whole of it alive. */
export function titleOf(words: string): string {
  const first = oneLine(words.slice(0, 4 * TITLE_CHARACTERS));
  const line = first.length > TITLE_CHARACTERS ? first : oneLine(words.slice(0, WORDS_CHARACTERS));
  return copied(clip(line, TITLE_CHARACTERS).text);
}

/** Whether a text has none but the first 256 characters, which take a byte each. */
const LATIN1 = /^[\0-\xff]*$/;

function copied(text: string): string {
  const encoding = LATIN1.test(text) ? "latin1" : "utf16le";
  return Buffer.from(text, encoding).toString(encoding);
}

const ENDS = new Set(["task_complete", "turn_complete", "turn_aborted"]);
/** Raw items that stand before the agent's first word without being one. */
const NO_ANSWER = new Set([
  "ghost_snapshot",
  "configuration_update",
  "additional_tools",
  "agent_message",
  "response_item",
]);

/** Bytes of the first look; nearly always enough. */
const FIRST_LOOK = 64 * 1024;
const NEXT_LOOK = 1024 * 1024;

/**
 * Goes on with `scan` over `source` until `enough`, or the file's end, or `limit` bytes; `breather` lets others run. A line
 * longer than a look says nothing of these things and is passed over.
 */
export async function continueScan(
  scan: HeadScan,
  source: ByteSource,
  enough: (scan: HeadScan) => boolean,
  limit: number,
  breather: Breather,
): Promise<void> {
  if (enough(scan)) return;
  let look = Buffer.allocUnsafe(Math.min(FIRST_LOOK, source.size));
  while (!enough(scan) && scan.scanned < Math.min(limit, source.size)) {
    const before = scan.scanned;
    const held = look.subarray(0, source.read(look, before));
    scan.take(held, before);
    if (scan.scanned > before) {
      await breather.pause();
      continue;
    }
    if (before + held.length >= source.size) return;
    if (look.length < NEXT_LOOK) look = Buffer.allocUnsafe(NEXT_LOOK);
    else if (scan.header === undefined) return;
    else if (!(await passOver(scan, source, limit, breather))) return;
  }
}

/** Moves the scan behind the newline that ends a long line; false when there is none (yet). */
async function passOver(scan: HeadScan, source: ByteSource, limit: number, breather: Breather): Promise<boolean> {
  const look = Buffer.allocUnsafe(NEXT_LOOK);
  for (let at = scan.scanned; at < Math.min(limit, source.size); at += look.length) {
    await breather.pause();
    const newline = look.subarray(0, source.read(look, at)).indexOf(NEWLINE);
    if (newline < 0) continue;
    scan.scanned = Math.max(scan.scanned, at + newline + 1);
    return true;
  }
  return false;
}

/** Texts of a header that are long (up to 20 KB each) and never shown. */
const INSTRUCTIONS = [Buffer.from('"base_instructions":{"text":"'), Buffer.from('"instructions":"')];

/** A header line without those texts, so that they are not parsed. Their keys can't stand inside another text unescaped. */
function withoutInstructions(line: Buffer): Buffer {
  let rest = line;
  for (const key of INSTRUCTIONS) {
    const place = rest.indexOf(key);
    if (place < 0) continue;
    const start = place + key.length;
    const end = stringEnd(rest, start);
    if (end > start) rest = Buffer.concat([rest.subarray(0, start), rest.subarray(end)]);
  }
  return rest;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Where the JSON string ends whose first character stands at `start`: at its quote; -1 when it does not end. */
function stringEnd(line: Buffer, start: number): number {
  for (let end = line.indexOf(QUOTE, start); end >= 0; end = line.indexOf(QUOTE, end + 1)) {
    let slashes = 0;
    while (line[end - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return -1;
}

/** The model that a `turn_context` line names; a copy, so that the line's text is not kept alive by it. */
export function modelIn(line: Buffer): string | undefined {
  const model = /"model":\s*"([^"\\]+)"/.exec(line.toString("latin1"))?.[1];
  return model === undefined ? undefined : Buffer.from(model, "latin1").toString();
}

function payloadOf(line: Buffer): { readonly [key: string]: unknown } | undefined {
  return asObject(asObject(parseRecords(line)[0])?.payload);
}
