import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Watcher } from "../../platform/watch.ts";
import { SETTLE_MS } from "../../transcript/limits.ts";
import type { SessionId } from "../../transcript/names.ts";
import type { Change } from "../store.ts";
import type { Catalog } from "./catalog.ts";
import type { Chains } from "./chain.ts";
import { merge } from "./merge.ts";
import { rolloutNameOf } from "./rollout-name.ts";

/** How much later than a change a chat is read once more: a page may have stopped before a call whose agent was to come. */
const ECHO_MS = SETTLE_MS + 100;

/** What following needs. */
export interface FollowTools {
  readonly homes: readonly string[];
  readonly catalog: Catalog;
  readonly chains: Chains;
  readonly watcher: Watcher;
}

/** Yields whenever the chat of `thread` may have grown, also into a new segment or from another place. */
export async function* followThread(thread: SessionId, tools: FollowTools, signal: AbortSignal): AsyncGenerator<void> {
  while (!signal.aborted) {
    const path = (await tools.chains.current(thread))?.file.path;
    const leaving = new AbortController();
    const leave = AbortSignal.any([signal, leaving.signal]);
    const files = path === undefined ? [] : [withEcho(tools.watcher.file(path, leave), leave)];
    const folders = tools.homes.flatMap((home) => newestFolders(tools.catalog, home));
    const added = folders.map((folder) => filesOfThread(tools.watcher.folder(folder, leave), thread, path));
    try {
      if (files.length === 0) yield;
      for await (const _ of merge([...files, ...added])) {
        yield;
        await tools.catalog.refresh("quick");
        const now = (await tools.chains.current(thread))?.file.path;
        if (now !== path) break;
      }
    } finally {
      leaving.abort();
    }
    if (signal.aborted) return;
    // Something may have been written between the two watches.
    yield;
    if (files.length + added.length === 0) await delay(SETTLE_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Yields the threads whose files change, in the newest day folders and the archive of each home, as they happen. */
export async function* followStore(
  tools: FollowTools,
  noteChange: (thread: string) => void,
  signal: AbortSignal,
): AsyncGenerator<Change> {
  while (!signal.aborted) {
    await tools.catalog.refresh("quick");
    const days = tools.homes.flatMap((home) => tools.catalog.newestFolders(home));
    const leaving = new AbortController();
    const leave = AbortSignal.any([signal, leaving.signal]);
    const archives = tools.homes.map((home) => join(home, "archived_sessions"));
    const above = tools.homes.flatMap((home) => newestFolders(tools.catalog, home));
    const watched = [...new Set([...days, ...above, ...archives])];
    const names = tools.homes.map((home) => renamed(tools.watcher.file(join(home, "session_index.jsonl"), leave)));
    try {
      for await (const name of merge([...watched.map((path) => tools.watcher.folder(path, leave)), ...names])) {
        const rollout = name === undefined ? undefined : rolloutNameOf(name);
        if (rollout !== undefined) {
          noteChange(rollout.thread);
          yield { id: rollout.thread };
          continue;
        }
        yield {};
        await tools.catalog.refresh("quick");
        const now = tools.homes.flatMap((home) => tools.catalog.newestFolders(home));
        if (now.join("\n") !== days.join("\n")) break;
      }
    } finally {
      leaving.abort();
    }
    if (watched.length === 0) return;
  }
}

/** Yields with `source`, and once more some time after it was quiet. */
async function* withEcho(source: AsyncIterable<void>, signal: AbortSignal): AsyncGenerator<void> {
  const iterator = source[Symbol.asyncIterator]();
  let next = iterator.next();
  let echo: Promise<"echo"> | undefined;
  try {
    for (;;) {
      const waits: Promise<IteratorResult<void> | "echo">[] = echo === undefined ? [next] : [next, echo];
      const first = await Promise.race(waits);
      if (first === "echo") echo = undefined;
      else if (first.done === true) return;
      else {
        next = iterator.next();
        echo = delay(ECHO_MS, "echo" as const, { signal, ref: false }).catch(() => "echo" as const);
      }
      if (signal.aborted) return;
      yield;
    }
  } finally {
    iterator.return?.().catch(() => undefined);
  }
}

/** The changes in a folder that may be a new file of `thread`; the file that is watched itself is none. */
async function* filesOfThread(
  source: AsyncIterable<string | undefined>,
  thread: SessionId,
  watched: string | undefined,
): AsyncGenerator<void> {
  for await (const name of source) {
    const rollout = name === undefined ? undefined : rolloutNameOf(name);
    const folder = name !== undefined && /^\d+$/.test(name);
    if (name === undefined || folder || (rollout?.thread === thread && watched?.endsWith(name) !== true)) yield;
  }
}

async function* renamed(source: AsyncIterable<void>): AsyncGenerator<undefined> {
  for await (const _ of source) yield undefined;
}

/** The newest day folder and those above it: a new file, or a folder for it, appears in one of them. */
function newestFolders(catalog: Catalog, home: string): string[] {
  const [day] = catalog.newestFolders(home, 1);
  if (day === undefined) return [join(home, "sessions")];
  return [day, join(day, ".."), join(day, "../.."), join(home, "sessions")];
}
