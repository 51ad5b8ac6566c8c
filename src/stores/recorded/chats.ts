import { setImmediate as turn } from "node:timers/promises";
import { BytePool, PageBuffers } from "../../jsonl/buffers.ts";
import { Continuity, type FileNow } from "../../jsonl/continuity.ts";
import {
  type ByteOffset,
  byteOffsetOf,
  FILE_START,
  formatJsonlCursor,
  type JsonlCursor,
  parseJsonlCursor,
} from "../../jsonl/cursor.ts";
import { isLineStart, type JsonlLine, readPage, readPageBefore } from "../../jsonl/page.ts";
import { readRange } from "../../jsonl/source.ts";
import { Failure } from "../../platform/failure.ts";
import { type FileStamp, type OpenFile, withFile } from "../../platform/files.ts";
import { Recent } from "../../platform/recent.ts";
import { badCursor, type Cursor } from "../../transcript/cursor.ts";
import type { Entry } from "../../transcript/entry.ts";
import { LOOK_BACK_BYTES } from "../../transcript/limits.ts";
import type { Budget, Continuing, EntryPage, EntryPageBefore, FarCall } from "../store.ts";
import { behindNewline, withoutReturn } from "./lines.ts";
import { Numbering } from "./numbering.ts";
import { isShown, type Pass, Recording } from "./recording.ts";
import { entriesOf, entryOf } from "./slots.ts";

/** Where a recording lies. */
export interface RecordedPlace {
  /** The real path of the folder that it must lie in. */
  readonly root: string;
  readonly file: string;
}

/** Passes that are kept for whoever reads on, and how many characters one may hold on to. */
const KEPT_PASSES = 8;
const MOST_WEIGHT = 16 * 1024 * 1024;

/** Recordings of which it is kept how they are numbered: mostly a few bytes each. */
const KEPT_NUMBERINGS = 256;

/** Lines that are remembered as bad. */
const MOST_BAD_LINES = 10_000;

/** Which calls count as far: those that pages can't put together, or also those that they do not look into. */
type Facts = "as pages need" | "with long calls";

/**
 * The chats of recordings. An item whose records lie on several pages comes, read forward, with each of them, as grown as that
 * page ends. Read backward, where what follows is known to the reader already, it comes where it begins, as grown as it will
 * be; with a later page too where nothing more was to be expected of it, or where that page has nothing else.
 */
export class RecordedChats {
  readonly #buffers = new PageBuffers();
  readonly #pool = new BytePool();
  readonly #continuity = new Continuity();
  readonly #passes = new Recent<string, Pass | null>(KEPT_PASSES);
  /** By file and edition. */
  readonly #numberings = new Recent<string, Numbering>(KEPT_NUMBERINGS);
  readonly #bad = new Map<string, string>();

  /** Lines that were met and are no records, and one of their places. */
  get badLines(): { readonly count: number; readonly example: string | undefined } {
    const [example] = this.#bad.values();
    return { count: this.#bad.size, example };
  }

  /** The entries from `from` on. @throws Failure bad-request, not-found */
  async entries(place: RecordedPlace, from: Cursor, budget: Budget): Promise<EntryPage> {
    const cursor = cursorOfChat(from);
    return this.#open(place, async (open, recording, now) => {
      const fits = cursor.offset === 0 || now.fits(cursor.offset);
      const start = fits ? cursor : FILE_START;
      return this.#buffers.lend(budget.bytes, async (buffer) => {
        const page = await readPage(open, start, buffer);
        const entries = await this.#tell(open.stamp.path, now, recording, page.lines, page.next);
        const reset = page.reset === true || !fits;
        now.served(reset ? 0 : start.offset, page.next.offset);
        const next = formatJsonlCursor(page.next);
        return {
          ...{ entries, next, ...begunBefore(start.offset, entries), ...(reset && { reset }) },
          ...{ uses: [open.stamp], settled: true, edition: now.edition },
        };
      });
    });
  }

  /** The entries that end at `before`, or the last ones. @throws Failure bad-request, not-found */
  async before(place: RecordedPlace, before: Cursor | "tail", budget: Budget): Promise<EntryPageBefore> {
    const cursor = before === "tail" ? undefined : cursorOfChat(before);
    return this.#open(place, async (open, recording, now) => {
      const fits = cursor !== undefined && now.fits(cursor.offset) && isPlaceIn(open, cursor);
      const reset = cursor !== undefined && !fits;
      const end = fits ? cursor.offset : byteOffsetOf(open.size);
      return this.#buffers.lend(budget.bytes, async (buffer) => {
        let told: number | undefined;
        let entries: readonly Entry[] = [];
        for (let stop = end; ; ) {
          const { lines, end: behind, prev } = await readPageBefore(open, stop, buffer);
          told ??= behind;
          entries = joined(await recording.back(lines), entries);
          const shows = entries.some(isShown);
          if (prev !== undefined && !shows && end - prev <= LOOK_BACK_BYTES) {
            stop = prev;
            await turn();
            continue;
          }
          now.served(prev ?? 0, fits ? end : told);
          return {
            entries,
            next: fits && before !== "tail" ? before : posOf(told),
            prev: prev === undefined ? null : posOf(prev),
            ...begunBefore(prev ?? 0, entries),
            ...(reset && { reset }),
            uses: [open.stamp],
            settled: true,
            edition: now.edition,
          };
        }
      });
    });
  }

  /**
   * The entries of the record at `pos`, if it is of at most `mostBytes`, with all that later records add to its items.
   * @throws Failure bad-request, not-found
   */
  async record(place: RecordedPlace, pos: Cursor, mostBytes: number): Promise<readonly Entry[]> {
    const cursor = cursorOfChat(pos);
    return this.#open(place, async (open, recording, now) => {
      const there = !cursor.discarding && now.fits(cursor.offset) && isLineStart(open, cursor.offset);
      const line = there ? await lineAt(open, cursor.offset, mostBytes) : undefined;
      if (line === undefined) throw new Failure("not-found", "no record of this chat stands there");
      const entries = await recording.whole([line]);
      const own = entries.filter((entry) => entry.pos === pos);
      // A record may only go on with what an earlier one began, or end it.
      return own.length > 0 ? own : entries;
    });
  }

  /**
   * Where the calls begin whose records lie more than 8 MiB apart, with their ids. The whole file is looked through for it, once
   * an edition. @throws Failure not-found
   */
  async farCalls(place: RecordedPlace): Promise<ReadonlyMap<Cursor, FarCall>> {
    const tell = async (_open: OpenFile, recording: Recording): Promise<ReadonlyMap<Cursor, FarCall>> => {
      const calls = await recording.farCalls();
      return new Map(calls.map(({ first, last, callId }) => [posOf(first), { callId, last: posOf(last) }]));
    };
    return this.#open(place, tell, "with long calls");
  }

  /** One of these with all of its records, those of up to `mostBytes`; undefined when none begins there. @throws as `record` */
  async farCall(place: RecordedPlace, pos: Cursor, mostBytes: number): Promise<Entry | undefined> {
    const { offset } = cursorOfChat(pos);
    const tell = async (_open: OpenFile, recording: Recording): Promise<Entry | undefined> => {
      const call = await recording.farCall(offset, mostBytes);
      return call && entryOf(call);
    };
    return this.#open(place, tell, "with long calls");
  }

  /** The stamp of the recording. @throws Failure not-found */
  stamp(place: RecordedPlace): Promise<FileStamp> {
    return withFile(place.root, place.file, ({ stamp }) => stamp);
  }

  #open<T>(
    place: RecordedPlace,
    use: (open: OpenFile, recording: Recording, now: FileNow) => Promise<T>,
    facts: Facts = "as pages need",
  ): Promise<T> {
    const badLine = (start: number): void => {
      if (this.#bad.size < MOST_BAD_LINES) this.#bad.set(`${place.file}\0${start}`, place.file);
    };
    return withFile(place.root, place.file, async (open) => {
      const now = this.#continuity.now(open);
      const recording = new Recording(open, {
        pool: this.#pool,
        numbering: this.#numberingOf(place.file, now, facts),
        badLine,
      });
      try {
        return await use(open, recording, now);
      } finally {
        recording.close();
      }
    });
  }

  #numberingOf(path: string, { edition }: FileNow, facts: Facts): Numbering {
    const key = `${path}\0${edition}\0${facts}`;
    const numbering = this.#numberings.get(key) ?? new Numbering(facts === "with long calls");
    this.#numberings.set(key, numbering);
    return numbering;
  }

  /** What `lines` show, each item as grown as they end; where they end is kept, since mostly one reads on there. */
  async #tell(
    path: string,
    { edition }: FileNow,
    recording: Recording,
    lines: readonly JsonlLine[],
    next: JsonlCursor,
  ): Promise<Entry[]> {
    const [first] = lines;
    if (first === undefined) return [];
    const key = (offset: number): string => `${path}\0${edition}:${offset}`;
    const kept = this.#passes.get(key(first.start));
    this.#passes.set(key(first.start), null);
    const pass = kept ?? (await recording.passAt(first.start));
    await recording.knowNumbersTo(first.start);
    for (const line of lines) recording.feed(pass, line);
    const entries = entriesOf(pass.fold.take());
    if (pass.fold.weight <= MOST_WEIGHT && !next.discarding) this.#passes.set(key(next.offset), pass);
    return entries;
  }
}

/** The line that starts at `start`: whole up to `mostBytes`, else only where it ends. Undefined as long as it has no end. */
async function lineAt(open: OpenFile, start: ByteOffset, mostBytes: number): Promise<JsonlLine | undefined> {
  const behind = await behindNewline(open, start);
  if (behind === undefined) return undefined;
  const end = byteOffsetOf(behind);
  if (end - start > mostBytes) return { kind: "oversized", start, end };
  const bytes = withoutReturn(readRange(open, start, end - 1));
  return bytes.length === 0 ? undefined : { kind: "record", start, end, bytes };
}

/** The entries of two stretches that follow each other; an item that lies in both stands in the first, as the second tells it. */
function joined(first: readonly Entry[], second: readonly Entry[]): readonly Entry[] {
  const later = new Map(second.map((entry) => [entry.id, entry]));
  const ids = new Set(first.map(({ id }) => id));
  return [...first.map((entry) => later.get(entry.id) ?? entry), ...second.filter(({ id }) => !ids.has(id))];
}

/** Which of `entries` began before the page of them, which begins at `start`. */
function begunBefore(start: number, entries: readonly Entry[]): Continuing {
  const before = entries.filter(({ pos }) => parseJsonlCursor(pos).offset < start);
  return before.length === 0 ? {} : { earlier: new Set(before.flatMap(({ id }) => id ?? [])) };
}

/** Chats of a single file have cursors without a chain. */
function cursorOfChat(text: Cursor): JsonlCursor {
  const cursor = parseJsonlCursor(text);
  if (cursor.chain !== undefined) throw badCursor();
  return cursor;
}

function isPlaceIn(open: OpenFile, cursor: JsonlCursor): boolean {
  return cursor.discarding ? cursor.offset <= open.size : isLineStart(open, cursor.offset);
}

function posOf(offset: number): Cursor {
  return formatJsonlCursor({ offset: byteOffsetOf(offset), discarding: false });
}
