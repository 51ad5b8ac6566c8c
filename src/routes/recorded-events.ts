import { setImmediate as turn } from "node:timers/promises";
import { Bell, pause } from "../platform/bell.ts";
import type { Timer } from "../platform/timer.ts";
import type { SseBlock, SseEvent } from "../server/route.ts";
import { formatEvent } from "../server/sse.ts";
import type { RawEvent, RawEventPage, SessionRef, Store } from "../stores/store.ts";
import type { Cursor } from "../transcript/cursor.ts";
import type { SessionId } from "../transcript/names.ts";
import { type Chat, isAway, ringing } from "./follow.ts";

/** A session that is, or will be, recorded. */
export interface Recorded {
  readonly sessionId: SessionId;
  /** The store that reads its recording. */
  readonly store: Store;
  /** Undefined when nothing is recorded yet. */
  readonly ref: SessionRef | undefined;
  /** Where its recording lies now. */
  locate(): Promise<SessionRef | undefined>;
  /** What says that the path still leads to this session, where that can change: it goes into the ETags of its pages. */
  readonly standing?: Chat["standing"];
}

/** What streams are made with. */
export interface StreamTools {
  readonly timer: Timer;
  readonly wires: SharedWires;
}

/** Records read at a time: what many clients that begin together are sent in one turn of the event loop. */
const PAGE_RECORDS = 500;
/** How often a recording is asked for that is not there, or can't be watched: ms. */
const POLL_MS = 100;
/** Watching tells at once. Should it miss something, this finds it, for the price of a stat. */
const RECHECK_MS = 10_000;
/** A watch is set up while the first pages are read, so the first second look comes early. */
const FIRST_RECHECK_MS = 250;
/** What is written within this time is read together, so that a busy writer does not wake every client for each record: ms. */
const GATHER_MS = 20;

/** A recording that is there. */
type Recording = Pick<Chat, "store" | "ref">;

/** How far a stream has come. */
interface Progress {
  from: number | Cursor;
  edition?: number | undefined;
  /** The number of the last record that was sent. */
  last: number;
  /** Another file has come in place of the one that was read; what it holds is not known yet. */
  replaced: boolean;
  /** Records up to this number were sent already: the file in place of the one that was read goes on with its numbers. */
  sentTo?: number | undefined;
}

/** What is new in a recording: records, or that it begins anew. */
export type RecordedNews = { readonly events: readonly RawEvent[] } | "reset";

/** `recordedNews` as server-sent events. */
export async function* recordedEvents(
  recorded: Recorded,
  since: number,
  { timer, wires }: StreamTools,
  signal: AbortSignal,
): AsyncGenerator<SseEvent | SseBlock, void> {
  for await (const news of recordedNews(recorded, since, timer, signal)) {
    yield news === "reset" ? { event: news, id: "0", data: { reset: true } } : { wire: wires.of(news.events) };
  }
}

/**
 * The records of a session behind the number `since`, each once, in the order of the file, as they come. A recording that
 * is not there (yet, or any more) is waited for. One that begins anew with the number 1 is announced by `reset`; one that
 * was made again and goes on with the numbers goes on here too. Ends with the signal. @throws what the store throws otherwise
 */
export async function* recordedNews(
  recorded: Pick<Recorded, "store" | "ref" | "locate">,
  since: number,
  timer: Timer,
  signal: AbortSignal,
): AsyncGenerator<RecordedNews, void> {
  const progress: Progress = { from: since, last: since, replaced: false };
  let { ref } = recorded;
  while (!signal.aborted) {
    if (ref !== undefined) yield* whileThere({ store: recorded.store, ref }, progress, timer, signal);
    await pause(timer, POLL_MS, signal);
    ref = await recorded.locate();
  }
}

/** Follows a recording as long as it can be read where it is. */
async function* whileThere(
  recording: Recording,
  progress: Progress,
  timer: Timer,
  signal: AbortSignal,
): AsyncGenerator<RecordedNews, void> {
  const bell = new Bell();
  const left = new AbortController();
  const watching = ringing(recording, bell, AbortSignal.any([signal, left.signal]));
  try {
    for (let patience = FIRST_RECHECK_MS; !signal.aborted; patience = RECHECK_MS) {
      yield* unread(recording, progress, signal);
      const ms = watching.lost ? POLL_MS : patience;
      await Promise.all([bell.listen(signal, { timer, ms }), pause(timer, GATHER_MS, signal)]);
    }
  } catch (error) {
    if (!isAway(error)) throw error;
  } finally {
    left.abort();
  }
}

/** Everything up to the end as it is now. */
async function* unread(
  recording: Recording,
  progress: Progress,
  signal: AbortSignal,
): AsyncGenerator<RecordedNews, void> {
  while (!signal.aborted) {
    const page = await readOn(recording, progress);
    if (page === undefined) return;
    yield* unsent(page.events, progress);
    if (page.complete) return;
    // Pages of a long recording may all be at hand at once; others get their turn in between.
    await turn();
  }
}

/** The next page; from the start when the file is another one than that of the last read. */
async function readOn({ store, ref }: Recording, progress: Progress): Promise<RawEventPage | undefined> {
  let page = await store.rawEvents?.(ref, progress.from, PAGE_RECORDS);
  const isOther = page !== undefined && progress.edition !== undefined && page.edition !== progress.edition;
  if (isOther && !page?.reset) page = await store.rawEvents?.(ref, 0, PAGE_RECORDS);
  if (page === undefined) return undefined;
  if (isOther || page.reset) progress.replaced = true;
  progress.edition = page.edition;
  // Until the first record, the number says more than a place: that one may be far from having come.
  if (typeof progress.from === "string" || page.events.length > 0) progress.from = page.next;
  return page;
}

function* unsent(events: readonly RawEvent[], progress: Progress): Generator<RecordedNews, void> {
  const [first] = events;
  if (first === undefined) return;
  if (progress.replaced) {
    progress.replaced = false;
    const goesOn = first.seq > 1;
    progress.sentTo = goesOn ? progress.last : undefined;
    if (!goesOn) yield "reset";
  }
  const { sentTo } = progress;
  const from = sentTo === undefined ? 0 : events.findIndex(({ seq }) => seq > sentTo);
  if (from < 0) return;
  progress.sentTo = undefined;
  progress.last = events.at(-1)?.seq ?? progress.last;
  yield { events: from === 0 ? events : events.slice(from) };
}

/** What lists of records are on the wire: clients that get the same list get the same bytes, made once. */
export class SharedWires {
  readonly #wires = new WeakMap<readonly RawEvent[], Buffer>();

  /** The records as server-sent events. */
  of(events: readonly RawEvent[]): Buffer {
    const wire = this.#wires.get(events) ?? wireOf(events);
    this.#wires.set(events, wire);
    return wire;
  }
}

function wireOf(events: readonly RawEvent[]): Buffer {
  return Buffer.from(events.map(({ seq, line }) => formatEvent({ id: String(seq), data: line })).join(""));
}
