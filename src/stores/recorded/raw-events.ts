import { BytePool } from "../../jsonl/buffers.ts";
import { Continuity, type FileNow } from "../../jsonl/continuity.ts";
import { byteOffsetOf, formatJsonlCursor, parseJsonlCursor } from "../../jsonl/cursor.ts";
import { isLineStart } from "../../jsonl/page.ts";
import { type FileStamp, type OpenFile, sameStamp, stampOf, withFile } from "../../platform/files.ts";
import { Recent } from "../../platform/recent.ts";
import { badCursor, type Cursor } from "../../transcript/cursor.ts";
import type { RawEvent, RawEventPage } from "../store.ts";
import type { RecordedPlace } from "./chats.ts";
import { walkLines } from "./lines.ts";
import { rawEventOf } from "./raw-event.ts";
import { placeBehind } from "./seq-search.ts";

/** Bytes of the lines of one page; a single record may be longer. */
const PAGE_BYTES = 4 * 1024 * 1024;
/** Pages that are kept for whoever reads the same next, and bytes of their lines. */
const KEPT_PAGES = 1024;
const KEPT_BYTES = 16 * 1024 * 1024;
/** Recordings of which it is kept where pages ended, and how many ends of each. */
const KEPT_FILES = 256;
const KEPT_ENDS = 512;

interface KeptPage {
  readonly page: RawEventPage;
  readonly bytes: number;
}

/** A page that is being read, and the file as it was before that began. */
interface Reading {
  readonly page: Promise<RawEventPage>;
  readonly stamp: FileStamp | undefined;
}

/** Where pages of one edition of a file ended, by the number that each ended with. */
class PageEnds {
  readonly edition: number;
  /** The highest number with which a page of an earlier edition ended. */
  readonly earlier: number;
  readonly #places = new Recent<number, number>(KEPT_ENDS);
  highest = 0;

  constructor(edition: number, earlier: number) {
    this.edition = edition;
    this.earlier = earlier;
  }

  /** Of several ends with the same number the last counts, so that nobody reads in a circle. */
  note(seq: number, place: number): void {
    this.highest = Math.max(this.highest, seq);
    this.#places.set(seq, Math.max(place, this.#places.get(seq) ?? 0));
  }

  of(seq: number): number | undefined {
    return this.#places.get(seq);
  }
}

/** Where a page starts. */
interface Start {
  readonly offset: number;
  readonly reset: boolean;
}

/**
 * The records of recordings as they stand. However many ask for the same page, it is read once: those that ask at the
 * same time share the reading, those that come later what is kept of it.
 */
export class RawEventReader {
  readonly #pool = new BytePool();
  readonly #continuity = new Continuity();
  readonly #ends = new Recent<string, PageEnds>(KEPT_FILES);
  readonly #reading = new Map<string, Reading>();
  readonly #kept = new Map<string, KeptPage>();
  #keptBytes = 0;
  /** Pages that were read so far. */
  pagesRead = 0;

  /** The records behind the number, or from the place, `from` on. @throws Failure bad-request, not-found */
  page(place: RecordedPlace, from: number | Cursor, limit: number): Promise<RawEventPage> {
    const key = `${place.file}\0${from}\0${limit}`;
    const stamp = stampOf(place.file);
    const others = this.#reading.get(key);
    // What was written since the others began must not be missed by who asks because of it.
    if (others?.stamp && stamp && sameStamp(others.stamp, stamp)) return others.page;
    const kept = this.#keptPage(key, stamp, typeof from === "string");
    if (kept !== undefined) return Promise.resolve(kept);
    const page = this.#read(place, from, limit, key).finally(() => {
      if (this.#reading.get(key)?.page === page) this.#reading.delete(key);
    });
    this.#reading.set(key, { page, stamp });
    return page;
  }

  /** A page that is still right. Whoever reads on from a place may have one to which the file has added since. */
  #keptPage(key: string, stamp: FileStamp | undefined, readsOn: boolean): RawEventPage | undefined {
    const kept = this.#kept.get(key);
    const was = kept?.page.uses[0];
    if (kept === undefined || was === undefined || stamp === undefined) return undefined;
    if (sameStamp(stamp, was)) return kept.page;
    const grown = stamp.ino === was.ino && stamp.dev === was.dev && stamp.size > was.size;
    if (!grown || !readsOn || kept.page.events.length === 0) return undefined;
    return { ...kept.page, complete: false, uses: [stamp] };
  }

  #read(place: RecordedPlace, from: number | Cursor, limit: number, key: string): Promise<RawEventPage> {
    return withFile(place.root, place.file, async (open) => {
      this.pagesRead++;
      const now = this.#continuity.now(open);
      const ends = this.#endsOf(place.file, now);
      const start = typeof from === "number" ? await this.#startBehind(open, from, ends) : startAt(open, from, now);
      const { events, end, bytes, full } = await this.#events(open, start.offset, limit);
      const last = events.at(-1)?.seq;
      if (last !== undefined) ends.note(last, end);
      now.served(start.offset, end);
      const page: RawEventPage = {
        events,
        nextSeq: last ?? (typeof from === "number" && !start.reset ? from : 0),
        next: formatJsonlCursor({ offset: byteOffsetOf(end), discarding: false }),
        complete: !full,
        ...(start.reset && { reset: true }),
        uses: [open.stamp],
        settled: !start.reset,
        edition: now.edition,
      };
      if (!start.reset) this.#keep(key, { page, bytes });
      return page;
    });
  }

  #endsOf(file: string, { edition }: FileNow): PageEnds {
    const held = this.#ends.get(file);
    if (held?.edition === edition) return held;
    const ends = new PageEnds(edition, held === undefined ? 0 : Math.max(held.earlier, held.highest));
    this.#ends.set(file, ends);
    return ends;
  }

  async #startBehind(open: OpenFile, since: number, ends: PageEnds): Promise<Start> {
    if (since === 0) return { offset: 0, reset: false };
    const known = ends.of(since);
    if (known !== undefined && isLineStart(open, byteOffsetOf(known))) return { offset: known, reset: false };
    const { offset, last } = await placeBehind(open, since, this.#pool);
    // A number that this file does not have yet, and that stood in the one before it.
    const reset = last !== undefined && last < since && since > 0 && since <= ends.earlier && offset > 0;
    return reset ? { offset: 0, reset } : { offset, reset };
  }

  async #events(
    open: OpenFile,
    from: number,
    limit: number,
  ): Promise<{ events: readonly RawEvent[]; end: number; bytes: number; full: boolean }> {
    const events: RawEvent[] = [];
    let end = from;
    let bytes = 0;
    const full = await walkLines(open, { from }, this.#pool, (line) => {
      // Behind the number 0 the first record comes, so no page ends with it while another follows.
      if (events.length >= limit && events.at(-1)?.seq !== 0) return "enough";
      const event = line.bytes && rawEventOf(line.bytes);
      if (event !== undefined) {
        if (events.length > 0 && events.at(-1)?.seq !== 0 && bytes + event.line.length > PAGE_BYTES) return "enough";
        events.push(event);
        bytes += event.line.length;
      }
      end = line.end;
      return undefined;
    });
    return { events, end, bytes, full };
  }

  #keep(key: string, kept: KeptPage): void {
    this.#forget(key);
    this.#kept.set(key, kept);
    this.#keptBytes += kept.bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_PAGES && this.#keptBytes <= KEPT_BYTES) break;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#keptBytes -= this.#kept.get(key)?.bytes ?? 0;
    this.#kept.delete(key);
  }
}

/** The place of a page's end in this file; the beginning, when it was the end of a page of another file. */
function startAt(open: OpenFile, from: Cursor, now: FileNow): Start {
  const { offset, discarding, chain } = parseJsonlCursor(from);
  if (discarding || chain !== undefined) throw badCursor();
  const fits = offset === 0 || (now.fits(offset) && isLineStart(open, offset));
  return fits ? { offset, reset: false } : { offset: 0, reset: true };
}
