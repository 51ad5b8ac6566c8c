import { setImmediate as turn } from "node:timers/promises";
import { Bell, pause } from "../platform/bell.ts";
import { Failure } from "../platform/failure.ts";
import type { FileStamp } from "../platform/files.ts";
import type { Timer } from "../platform/timer.ts";
import type { Validity } from "../server/route.ts";
import { PAGE_BUDGET, type Pages, type ReadPage } from "../stores/pages.ts";
import type { Edition, Provenance, SessionRef, Store } from "../stores/store.ts";
import { type Cursor, START } from "../transcript/cursor.ts";
import { type Page, pageItems } from "../transcript/item.ts";
import { SETTLE_MS } from "../transcript/limits.ts";
import { Succession } from "./succession.ts";

/** A chat that was found, and the way to find it again. */
export interface Chat {
  readonly store: Store;
  readonly ref: SessionRef;
  /** Where it lies now: a session can move. */
  locate(): Promise<SessionRef | undefined>;
  /** What says that the path still leads to this chat, where that can change: it goes into the ETags of its pages. */
  readonly standing?: Required<Pick<Validity, "facts" | "factsNow">>;
  /** The chat that has taken this one's place, where another may; `over` when nothing will come of it any more. */
  readonly successor?: () => Promise<Chat | "over" | undefined>;
}

/** What following needs. */
export interface FollowTools {
  readonly pages: Pages;
  readonly timer: Timer;
}

/** A page of a chat; the last page of it, which a follower that asked for the tail gets first, also says what is before it. */
export interface FollowedPage extends Page {
  readonly prev?: Cursor | null;
}

/** Watching tells at once. Should it miss something, this finds it, for the price of a stat a file. */
const RECHECK_MS = 10_000;
/** A watch is set up while the first pages are read, so the first second look comes early. */
const FIRST_RECHECK_MS = 250;
/** How often a chat is asked that can't be watched, or that has gone. */
const POLL_MS = 250;
/** How often a chat that has gone, or can't be read, is looked for again before it is given up: five seconds. */
const GONE_POLLS = 20;

/** A file as it was read. */
interface ReadFile extends Edition {
  readonly stamp: FileStamp;
}

/** How far a follower has come. */
interface Progress {
  cursor: Cursor;
  /** The chat's own file at the last read. */
  file?: ReadFile | undefined;
  /** The items of a page that did not move the cursor (they may yet change), so that they are not told again as they were. */
  repeated?: string | undefined;
  /** What was told is of another chat, so that the next page must say that it starts anew. */
  anew?: boolean;
  /** Reads that failed, one after the other, because the chat is not there or can't be read. */
  misses: number;
}

/**
 * The pages of a chat from `from` on as they come, none of them empty, save one that says `reset`. `tail` begins with the last page.
 * A chat that has given way to another is left for that one, from its start.
 * Ends with the signal, when nothing will come any more, or when the chat has been gone or unreadable for five seconds. @throws what the store throws otherwise
 */
export async function* follow(
  chat: Chat,
  from: Cursor | "tail",
  { pages, timer }: FollowTools,
  signal: AbortSignal,
): AsyncGenerator<FollowedPage, void> {
  const progress: Progress = { cursor: START, misses: 0 };
  if (from === "tail") {
    const tail = await chat.store.before(chat.ref, "tail", PAGE_BUDGET);
    progress.cursor = tail.next;
    progress.file = fileOf(tail);
    const items = pageItems(tail);
    if (items.length > 0) yield { items, next: tail.next, prev: tail.prev };
  } else {
    progress.cursor = from;
  }
  let at = chat;
  while (!signal.aborted) {
    const instead = yield* whileThere(at, progress, { pages, timer }, signal);
    if (instead === "over") return;
    if (instead !== undefined) {
      at = instead;
      startAnew(progress);
      continue;
    }
    if (progress.misses > GONE_POLLS) return;
    await pause(timer, POLL_MS, signal);
    const successor = await at.successor?.();
    if (successor === "over") return;
    if (successor === undefined) {
      at = { ...at, ref: (await at.locate()) ?? at.ref };
    } else {
      at = successor;
      startAnew(progress);
    }
  }
}

/** Makes the next read the first one of another chat. */
function startAnew(progress: Progress): void {
  const isTold = progress.cursor !== START || progress.repeated !== undefined;
  progress.anew = isTold || progress.anew === true;
  progress.cursor = START;
  progress.file = undefined;
  progress.repeated = undefined;
}

/** Follows a chat as long as it can be read where it is. Gives back the one that has taken its place, if one has. */
async function* whileThere(
  chat: Chat,
  progress: Progress,
  { pages, timer }: FollowTools,
  signal: AbortSignal,
): AsyncGenerator<Page, Chat | "over" | undefined> {
  const bell = new Bell();
  const end = new AbortController();
  const ends = (): void => end.abort();
  signal.addEventListener("abort", ends, { once: true });
  const watching = ringing(chat, bell, end.signal);
  const succession = new Succession(chat.successor, bell, timer);
  try {
    for (let patience = FIRST_RECHECK_MS; !signal.aborted; patience = RECHECK_MS) {
      const successor = await succession.due();
      if (successor !== undefined) return successor;
      const settled = yield* unread(chat, progress, pages, signal);
      const ms = watching.lost ? POLL_MS : settled ? patience : Math.min(patience, SETTLE_MS);
      await bell.listen(signal, { timer, ms });
    }
  } catch (error) {
    if (!isAway(error)) throw error;
    progress.misses++;
  } finally {
    signal.removeEventListener("abort", ends);
    end.abort();
    succession.end();
  }
  return undefined;
}

/** Whether a chat that is not there, or whose file can't be read, may be there again in a moment. */
export function isAway(error: unknown): boolean {
  return error instanceof Failure && (error.kind === "not-found" || error.kind === "unreadable");
}

/** Rings when the chat may have grown, and when nothing will tell so any more. */
export function ringing(
  { store, ref }: Pick<Chat, "store" | "ref">,
  bell: Bell,
  signal: AbortSignal,
): { readonly lost: boolean } {
  const state = { lost: signal.aborted };
  const listen = async (): Promise<void> => {
    try {
      for await (const _ of store.watch(ref, signal)) bell.ring();
    } finally {
      state.lost = true;
      bell.ring();
    }
  };
  // A watch that fails is made up for by asking, which also meets whatever made it fail.
  listen().catch(() => undefined);
  return state;
}

/** Everything up to the end as it is now. Gives back whether the end is settled. */
async function* unread(
  { store, ref }: Chat,
  progress: Progress,
  pages: Pages,
  signal: AbortSignal,
): AsyncGenerator<Page, boolean> {
  while (!signal.aborted) {
    const read = await readOn(store, ref, progress, pages);
    const { page, settled } = read;
    progress.misses = 0;
    progress.file = fileOf(read) ?? progress.file;
    const stays = page.next === progress.cursor && !page.reset;
    const repeated = stays && page.items.length > 0 ? JSON.stringify(page.items) : undefined;
    const isNews = page.items.length > 0 && (repeated === undefined || repeated !== progress.repeated);
    progress.repeated = repeated;
    progress.cursor = page.next;
    if (isNews || page.reset) yield page;
    if (stays) return settled;
    // Pages of a long history may all be at hand at once; others get their turn in between.
    await turn();
  }
  return true;
}

/** The next page; from the start again when the file is another one than that of the last read. */
async function readOn(store: Store, ref: SessionRef, progress: Progress, pages: Pages): Promise<ReadPage> {
  const read = await pages.from(store, ref, progress.cursor);
  if (progress.anew) {
    progress.anew = false;
    return { ...read, page: { ...read.page, reset: true } };
  }
  const file = fileOf(read);
  const replaced = file !== undefined && progress.file !== undefined && !sameFile(file, progress.file);
  if (!replaced || read.page.reset) return read;
  const first = await pages.from(store, ref, START);
  return { ...first, page: { ...first.page, reset: true } };
}

function fileOf({ uses: [stamp], edition }: Provenance & Edition): ReadFile | undefined {
  return stamp && { stamp, ...(edition !== undefined && { edition }) };
}

/** A file that was deleted may leave its inode to the one that comes in its place, and one that was cut keeps it. */
function sameFile(a: ReadFile, b: ReadFile): boolean {
  if (a.stamp.ino !== b.stamp.ino || a.stamp.dev !== b.stamp.dev) return false;
  return a.stamp.path !== b.stamp.path || a.edition === b.edition;
}
