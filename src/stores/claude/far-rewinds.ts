import { Continuity } from "../../jsonl/continuity.ts";
import { type ByteOffset, FILE_START } from "../../jsonl/cursor.ts";
import { pageBuffer, type RecordLine, readPage } from "../../jsonl/page.ts";
import { Breather } from "../../platform/breather.ts";
import type { OpenFile } from "../../platform/files.ts";
import { pushTo } from "../../platform/push-to.ts";
import { asText, type JsonObject } from "../../platform/read.ts";
import { Recent } from "../../platform/recent.ts";
import { LOOK_BACK_BYTES, PAGE_BYTES } from "../../transcript/limits.ts";
import { type ChatFile, isPlainId, type Reading, withChat } from "./chat-file.ts";
import { MAIN_CHAT } from "./chat-scope.ts";
import { isCopy } from "./copies.ts";
import { holds, readHead } from "./line-head.ts";
import { isQueued, shownPlace } from "./queued.ts";
import { promptOf, textsTyped } from "./records.ts";
import type { TakenPrompt } from "./rewinds.ts";

/*
 * What a page says of a rewind is looked for in the 8 MiB before it. An export folds all that was taken back, so for a
 * prompt whose parent stands further back the whole file is gone through: twice, once for the prompts and the answers and
 * once for the parents, however many such prompts there are. Who has none pays nothing.
 */

/** Files that are remembered, as they were when they were gone through. */
const FILES = 4;

interface PlacedPrompt {
  readonly start: ByteOffset;
  readonly id: string | undefined;
  /** Null: it states that it has none. */
  readonly parent: string | null | undefined;
  /** Where the first answer behind it starts. */
  answeredAt: number;
}

interface Scan {
  readonly edition: number;
  /** How much of the file was gone through. */
  readonly size: number;
  readonly prompts: PlacedPrompt[];
  /** So many of them, from the first, have an answer. */
  answered: number;
  /** Where prompts that were queued and taken in mid-turn show. */
  readonly queued: ByteOffset[];
  /** Where the chain of parents was cut first: by a compaction. */
  firstCut: number;
  /** The lines that hold an id that was looked for. */
  readonly places: Map<string, Pick<RecordLine, "start" | "end">[]>;
}

/** Tells of prompts what they take back that stands anywhere before them. */
export class FarRewinds {
  readonly #reading: Reading;
  readonly #scans = new Recent<string, Scan>(FILES);
  readonly #continuity = new Continuity(FILES);

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  /** What the prompt that starts at `start` takes back in the session's own chat, if anything. */
  async takenBy(open: OpenFile, chat: ChatFile, start: ByteOffset): Promise<TakenPrompt | undefined> {
    const { prompts, queued, firstCut, places } = await this.#scanOf(open, start);
    const prompt = prompts.find((one) => one.start === start);
    if (prompt === undefined) return undefined;
    const before = (id: string | undefined) => places.get(id ?? "")?.findLast((line) => line.start < start);
    // What was written again takes nothing back.
    if (before(prompt.id) !== undefined) return undefined;
    const parent = prompt.parent === null ? undefined : before(prompt.parent);
    if (prompt.parent === null ? firstCut < start : parent === undefined) return undefined;
    const from = parent?.end ?? 0;
    const first = prompts.find((one) => one.start >= from);
    if (first === undefined || first.start >= start || first.answeredAt >= start) return undefined;
    const records = chat.records(chat.lineAt(first.start)?.bytes ?? Buffer.alloc(0));
    const record = records.find((one) => promptOf(one) !== undefined);
    const text = record && promptOf(record);
    if (record === undefined || text === undefined) return undefined;
    const wasQueued = queued.find((place) => place >= from && place < first.start);
    return { text, shownAt: wasQueued ?? shownPlace(chat, record, first.start) };
  }

  async #scanOf(open: OpenFile, start: ByteOffset): Promise<Scan> {
    const { path, size } = open.stamp;
    const { edition } = this.#continuity.now(open);
    const known = this.#scans.get(path);
    if (known?.edition === edition && known.size > start) return known;
    const scan: Scan = {
      edition,
      size,
      prompts: [],
      answered: 0,
      queued: [],
      firstCut: Number.POSITIVE_INFINITY,
      places: new Map(),
    };
    await eachPage(open, size, (lines) =>
      withChat(open, MAIN_CHAT, this.#reading, (chat) => addTurns(scan, chat, lines)),
    );
    const far = scan.prompts.filter((prompt) => prompt.start > LOOK_BACK_BYTES);
    const ids = new Set(far.flatMap(({ id, parent }) => [id ?? [], parent ?? []].flat()));
    await eachPage(open, size, (lines) => addPlaces(scan, ids, lines));
    this.#scans.set(path, scan);
    return scan;
  }
}

/** Shows `use` the whole lines that a page can hold, a page at a time, as they stand in the first `size` bytes. */
async function eachPage(
  open: OpenFile,
  size: number,
  use: (lines: readonly RecordLine[]) => void | Promise<void>,
): Promise<void> {
  const buffer = pageBuffer(PAGE_BYTES);
  const breather = new Breather();
  for (let cursor = FILE_START; cursor.offset < size; ) {
    const { lines, next } = await readPage(open, cursor, buffer);
    await use(lines.filter((line): line is RecordLine => line.kind === "record"));
    if (next.offset === cursor.offset) return;
    cursor = next;
    await breather.pause();
  }
}

function addTurns(scan: Scan, chat: ChatFile, lines: readonly RecordLine[]): void {
  for (const { start, bytes } of lines) {
    const { kind, sidechain } = readHead(bytes);
    if (kind === "skip" || sidechain) continue;
    if (kind === "assistant" && scan.answered === scan.prompts.length) continue;
    if (kind === "user" && holds(bytes, '"tool_result"')) continue;
    for (const record of chat.records(bytes)) addTurn(scan, chat, record, start);
  }
}

function addTurn(scan: Scan, chat: ChatFile, record: JsonObject, start: ByteOffset): void {
  if (record.subtype === "compact_boundary" || record.isCompactSummary === true) {
    scan.firstCut = Math.min(scan.firstCut, start);
  }
  const text = promptOf(record);
  const queues = text === undefined && isQueued(record) && textsTyped(record).length > 0;
  const answers = record.type === "assistant" && scan.answered < scan.prompts.length;
  if ((text === undefined && !queues && !answers) || isCopy(chat, record, start)) return;
  if (queues) scan.queued.push(start);
  else if (answers) {
    for (const prompt of scan.prompts.slice(scan.answered)) prompt.answeredAt = start;
    scan.answered = scan.prompts.length;
  } else {
    const parent = record.parentUuid === null ? null : plainId(record.parentUuid);
    scan.prompts.push({ start, id: plainId(record.uuid), parent, answeredAt: Number.POSITIVE_INFINITY });
  }
}

function plainId(value: unknown): string | undefined {
  const id = asText(value);
  return id !== undefined && isPlainId(id) ? id : undefined;
}

/** Node searches for six bytes several times as fast as for seven. */
const UUID_END = Buffer.from('uuid":');
const QUOTE = 0x22;
const SPACE = 0x20;

/** Notes the lines that hold one of `ids` as the value of `uuid`. */
function addPlaces(scan: Scan, ids: ReadonlySet<string>, lines: readonly RecordLine[]): void {
  for (const line of lines) {
    const { start, end, bytes } = line;
    for (let at = bytes.indexOf(UUID_END); at >= 0; at = bytes.indexOf(UUID_END, at)) {
      const isKey = bytes[at - 1] === QUOTE;
      at += UUID_END.length;
      const value = bytes[at] === SPACE ? at + 1 : at;
      if (!isKey || bytes[value] !== QUOTE) continue;
      const close = bytes.indexOf(QUOTE, value + 1);
      const id = close < 0 ? "" : bytes.toString("latin1", value + 1, close);
      if (ids.has(id)) pushTo(scan.places, id, { start, end });
    }
  }
}
