import { basename } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { BytePool, PageBuffers } from "../../jsonl/buffers.ts";
import { Continuity, type FileNow } from "../../jsonl/continuity.ts";
import { type ByteOffset, byteOffsetOf, FILE_START, formatJsonlCursor, parseJsonlCursor } from "../../jsonl/cursor.ts";
import { isLineStart, type JsonlLine, readPage, readPageBefore } from "../../jsonl/page.ts";
import type { Clock, EpochMs } from "../../platform/clock.ts";
import { Failure } from "../../platform/failure.ts";
import { type FileStamp, type OpenFile, stampOf, withFile, withFileNow } from "../../platform/files.ts";
import { badCursor, type Cursor } from "../../transcript/cursor.ts";
import type { Entry } from "../../transcript/entry.ts";
import { toItem } from "../../transcript/item.ts";
import { CHILDREN, LOOK_BACK_BYTES, PAGE_BYTES, UNCUT_RECORD_BYTES } from "../../transcript/limits.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";
import type { Budget, ChildList, EntryPage, EntryPageBefore, Skipped } from "../store.ts";
import { type ChatFile, posOf, withChat } from "./chat-file.ts";
import { type ChatRecord, readChat, rewindMark } from "./chat-records.ts";
import { agentChat, type ChatScope, MAIN_CHAT, sidechainChat } from "./chat-scope.ts";
import { ChildLister } from "./child-list.ts";
import { ChildIndex } from "./children.ts";
import { EvidenceFinder } from "./evidence.ts";
import { FarRewinds } from "./far-rewinds.ts";
import { readLongLine } from "./long-line.ts";
import { addTo, type Meter, newMeter } from "./meter.ts";
import { mentionsSubagents, orphanedCalls } from "./namings.ts";
import { withPersistedOutput } from "./persisted.ts";
import type { ClaudePlace } from "./place.ts";
import { placeSubagents } from "./spawns.ts";
import type { LinesRead } from "./totals.ts";
import { Trouble } from "./trouble.ts";

/** What reading chats needs from outside. */
export interface ClaudeChatsDeps {
  readonly clock: Clock;
  /** Whether a process has the session open now. */
  isLive(session: SessionId): boolean;
  /** Counts the work. */
  readonly meter?: Meter;
  /** Is shown the lines of each page that is read forward. */
  readonly counter?: ((place: ClaudePlace, lines: LinesRead) => void) | undefined;
}

/** Some records of a chat with all that they show. */
interface Told {
  readonly entries: readonly Entry[];
  /** Where the records end that can be told now: the first one that waits for its subagent. */
  readonly stop: ByteOffset | undefined;
  readonly uses: readonly FileStamp[];
}

/** No record waits at this time. */
const LATER = Number.MAX_SAFE_INTEGER as EpochMs;

/** The chats of Claude Code sessions and of their subagents. */
export class ClaudeChats {
  readonly #clock: Clock;
  readonly #isLive: (session: SessionId) => boolean;
  readonly #meter: Meter;
  readonly #counter: ClaudeChatsDeps["counter"];
  readonly #buffers = new PageBuffers();
  readonly #pool = new BytePool();
  readonly #continuity = new Continuity();
  readonly #trouble = new Trouble();
  readonly #children: ChildIndex;
  readonly #evidence: EvidenceFinder;
  readonly #lister: ChildLister;
  readonly #farRewinds: FarRewinds;

  constructor(deps: ClaudeChatsDeps) {
    this.#clock = deps.clock;
    this.#isLive = (session) => deps.isLive(session);
    this.#meter = deps.meter ?? newMeter();
    this.#counter = deps.counter;
    const reading = { meter: this.#meter, pool: this.#pool };
    this.#children = new ChildIndex(reading, this.#trouble);
    this.#evidence = new EvidenceFinder(reading);
    this.#farRewinds = new FarRewinds(reading);
    this.#lister = new ChildLister(this.#children, reading, this.#evidence);
  }

  /** The entries from `from` on. @throws Failure bad-request, not-found */
  async entries(place: ClaudePlace, from: Cursor, budget: Budget): Promise<EntryPage> {
    const cursor = cursorOfChat(from);
    return this.#open(place, async (open, chat, now) => {
      const fits = cursor.offset === 0 || now.fits(cursor.offset);
      const start = fits ? cursor : FILE_START;
      const { page, records } = await this.#buffers.lend(budget.bytes, async (buffer) => {
        const page = await readPage(chat.source, start, buffer);
        const records = readChat(chat, page.lines);
        this.#counter?.(place, { open, from: start, ...page, parsed: (line) => chat.parsed(line) });
        return { page, records };
      });
      const told = await this.#tell(place, open, chat, records, this.#clock.now());
      const reset = page.reset === true || !fits;
      const next = told.stop === undefined ? page.next : { offset: told.stop, discarding: false };
      now.served(reset ? 0 : start.offset, next.offset);
      const { entries, uses, stop } = told;
      return {
        entries,
        next: formatJsonlCursor(next),
        ...(reset && { reset }),
        uses,
        settled: stop === undefined,
        edition: now.edition,
      };
    });
  }

  /** The entries that end at `before`, or the last ones. @throws Failure bad-request, not-found */
  async before(place: ClaudePlace, before: Cursor | "tail", budget: Budget): Promise<EntryPageBefore> {
    const cursor = before === "tail" ? undefined : cursorOfChat(before);
    return this.#open(place, async (open, chat, now) => {
      const fits = cursor !== undefined && now.fits(cursor.offset) && isPlaceIn(chat, cursor);
      const reset = cursor !== undefined && !fits;
      const end = fits ? cursor.offset : byteOffsetOf(open.size);
      const page = await this.#pageBefore(place, open, chat, end, fits ? "given" : "tail", budget);
      const next = fits ? before : formatJsonlCursor({ offset: page.next, discarding: false });
      now.served(page.prev ?? 0, fits ? end : page.next);
      return {
        entries: page.entries,
        next: next as Cursor,
        prev: page.prev === undefined ? null : posOf(page.prev),
        ...(reset && { reset }),
        uses: page.uses,
        settled: page.settled,
        edition: now.edition,
      };
    });
  }

  /** The entries of the one record at `pos`, uncut if it is of at most `mostBytes` (else 32 MiB). @throws Failure bad-request, not-found */
  async record(place: ClaudePlace, pos: Cursor, mostBytes?: number): Promise<readonly Entry[]> {
    const cursor = cursorOfChat(pos);
    return this.#open(place, async (open, chat, now) => {
      const there = !cursor.discarding && now.fits(cursor.offset) && isLineStart(chat.source, cursor.offset);
      const records = there ? await this.#recordAt(chat, cursor.offset, mostBytes ?? UNCUT_RECORD_BYTES) : undefined;
      if (records === undefined) throw new Failure("not-found", "no record of this chat stands there");
      // A page shows nothing of a record that is too long for it, so its subagents stand elsewhere.
      const long = chat.lineAt(cursor.offset) === undefined;
      const { entries } = long ? { entries: entriesOf(records) } : await this.#tell(place, open, chat, records, LATER);
      const whole = await withPersistedOutput(place, records[0]?.record, entries, mostBytes);
      return mostBytes === undefined ? whole : this.#withFarRewind(open, chat, cursor.offset, whole);
    });
  }

  /** The entries of the record at `start`, behind the mark of what it takes back, wherever that stands. */
  async #withFarRewind(
    open: OpenFile,
    chat: ChatFile,
    start: ByteOffset,
    entries: readonly Entry[],
  ): Promise<readonly Entry[]> {
    const prompt = entries.find((entry) => entry.kind === "user" && entry.goesFarBack);
    const first = prompt && (await this.#farRewinds.takenBy(open, chat, start));
    return prompt === undefined || first === undefined ? entries : [rewindMark(prompt, first), ...entries];
  }

  /** The newest `most` (200 when left out) subagents of the session; of a subagent, those that it started. @throws Failure not-found */
  async children(place: ClaudePlace, most = CHILDREN): Promise<ChildList> {
    requireThere(place);
    return this.#lister.list(place, agentOf(place), this.#isLive(place.session), most);
  }

  /** The place of the subagent `id`, when it is one of this very session. @throws Failure not-found: the session is gone */
  async child(place: ClaudePlace, id: SessionId): Promise<ClaudePlace | undefined> {
    requireThere(place);
    return (await this.#children.one(place, id))?.place;
  }

  /** What was left out of the chats that were read, by reason: files with damaged lines, files that can't be read. */
  skipped(): readonly Skipped[] {
    return this.#trouble.skipped();
  }

  #open<T>(place: ClaudePlace, use: (open: OpenFile, chat: ChatFile, now: FileNow) => Promise<T>): Promise<T> {
    return withFile(place.root, place.file, async (open) => {
      this.#meter.opens++;
      // The session may go on in another copy of its transcript, which earlier cursors are not of.
      const now = this.#continuity.now(
        open,
        place.file === place.mainFile ? `${place.root} ${place.session}` : place.file,
      );
      const scope = await this.#scopeOf(place, open);
      const meter = newMeter();
      try {
        return await withChat(open, scope, { meter, pool: this.#pool }, (chat) => use(open, chat, now));
      } finally {
        addTo(this.#meter, meter);
        if (meter.damaged > 0) this.#trouble.note("a line of a transcript is no whole record", place.file);
      }
    });
  }

  async #scopeOf(place: ClaudePlace, open: OpenFile): Promise<ChatScope> {
    const agent = agentOf(place);
    if (agent === undefined) return MAIN_CHAT;
    if (place.sidechain === undefined) return agentChat(agent);
    const { rootOf } = await this.#children.sidechains(open);
    return sidechainChat(agent, rootOf);
  }

  /** Puts subagents among the records, when these have to do with any. */
  async #tell(
    place: ClaudePlace,
    open: OpenFile,
    chat: ChatFile,
    records: readonly ChatRecord[],
    now: EpochMs,
  ): Promise<Told> {
    if (!mentionsSubagents(records) && !(await this.#startedAny(place, orphanedCalls(records)))) {
      return { entries: entriesOf(records), stop: undefined, uses: [open.stamp] };
    }
    const main = place.file === place.mainFile ? open : undefined;
    const evidence = () => this.#evidence.of(open, chat.scope, "start");
    let children = await this.#children.of(place, "trust", main);
    let placed = await placeSubagents(chat, records, children, now, evidence);
    if (placed.used.some((child) => this.#children.isOutdated(child))) {
      children = await this.#children.of(place, "fresh", main);
      placed = await placeSubagents(chat, records, children, now, evidence);
    }
    const files = [...new Set(placed.used.flatMap(({ files }) => files))];
    return {
      entries: entriesOf(placed.records),
      stop: placed.stop,
      uses: [open.stamp, ...children.folders, ...files.flatMap((file) => stampOf(file) ?? [])],
    };
  }

  /** Whether a subagent's meta file names one of these calls. */
  async #startedAny(place: ClaudePlace, calls: ReadonlySet<string>): Promise<boolean> {
    if (calls.size === 0) return false;
    const { byId } = await this.#children.withFiles(place, "trust");
    return [...byId.values()].some(({ meta }) => meta?.toolUseId !== undefined && calls.has(meta.toolUseId));
  }

  async #pageBefore(
    place: ClaudePlace,
    open: OpenFile,
    chat: ChatFile,
    end: ByteOffset,
    kind: "tail" | "given",
    budget: Budget,
  ): Promise<BackwardPage> {
    const pages: Told[] = [];
    let next: ByteOffset | undefined;
    let settled = true;
    for (let stop = end; ; ) {
      const { page, records } = await this.#buffers.lend(budget.bytes, async (buffer) => {
        const page = await readPageBefore(chat.source, stop, buffer);
        return { page, records: readChat(chat, page.lines) };
      });
      let told = await this.#tell(place, open, chat, records, this.#clock.now());
      if (told.stop !== undefined) {
        settled = false;
        // A client that asks for what stands before a place has what follows already.
        if (kind === "given") told = await this.#tell(place, open, chat, records, LATER);
      }
      if (told.stop !== undefined || next === undefined) next = told.stop ?? page.end;
      if (told.stop !== undefined) pages.length = 0;
      pages.unshift(told);
      const { prev } = page;
      const shows = told.entries.some((entry) => toItem(entry) !== undefined);
      if (shows || prev === undefined || end - prev > LOOK_BACK_BYTES) {
        const uses = pages.flatMap((one) => one.uses);
        return { entries: entriesOf(pages), next, prev, uses: distinct(uses), settled };
      }
      stop = prev;
      await turn();
    }
  }

  async #recordAt(chat: ChatFile, start: ByteOffset, mostBytes: number): Promise<ChatRecord[] | undefined> {
    const short = await this.#buffers.lend(PAGE_BYTES, async (buffer) => {
      const { lines, next } = await readPage(chat.source, { offset: start, discarding: false }, buffer);
      const [line] = lines;
      if (line !== undefined)
        return line.kind === "record" && line.start === start ? readChat(chat, [line]) : undefined;
      return next.discarding ? "long" : undefined;
    });
    if (short !== "long") return short;
    const line: JsonlLine | undefined = await readLongLine(chat.source, start, mostBytes);
    if (line === undefined) return undefined;
    const records = readChat(chat, [line]);
    // A page tells the size of what it does not look into; that stays so where nothing in it is to be shown.
    if (entriesOf(records).length > 0) return records;
    return readChat(chat, [{ kind: "oversized", start: line.start, end: line.end }]);
  }
}

interface BackwardPage {
  readonly entries: readonly Entry[];
  readonly next: ByteOffset;
  readonly prev: ByteOffset | undefined;
  readonly uses: readonly FileStamp[];
  readonly settled: boolean;
}

function entriesOf(parts: readonly { readonly entries: readonly Entry[] }[]): Entry[] {
  const all: Entry[] = [];
  for (const { entries } of parts) all.push(...entries);
  return all;
}

/**
 * What has moved is looked for anew by whoever hears that it is not found; what can't be read has no subagents either, as it
 * has no chat.
 */
function requireThere({ root, mainFile }: ClaudePlace): void {
  withFileNow(root, mainFile, () => undefined);
}

/** Whose chat a place is; undefined for the session's own. */
function agentOf(place: ClaudePlace): SessionId | undefined {
  if (place.sidechain !== undefined) return sessionIdOf(place.sidechain);
  if (place.file === place.mainFile) return undefined;
  return sessionIdOf(/^agent-(.+)\.jsonl$/.exec(basename(place.file))?.[1]);
}

/** Chats of a single file have cursors without a chain. */
function cursorOfChat(text: Cursor): ReturnType<typeof parseJsonlCursor> {
  const cursor = parseJsonlCursor(text);
  if (cursor.chain !== undefined) throw badCursor();
  return cursor;
}

function isPlaceIn(chat: ChatFile, cursor: ReturnType<typeof parseJsonlCursor>): boolean {
  return cursor.discarding ? cursor.offset <= chat.source.size : isLineStart(chat.source, cursor.offset);
}

function distinct(stamps: readonly FileStamp[]): FileStamp[] {
  return [...new Map(stamps.map((stamp) => [stamp.path, stamp])).values()];
}
