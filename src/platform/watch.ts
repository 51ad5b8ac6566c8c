import { watch as watchPath } from "node:fs";
import { stampOf } from "./files.ts";
import { Subscription } from "./subscription.ts";
import { type SystemWatch, type Told, WatchedPath, type WatchSystem } from "./watched-path.ts";

/**
 * Watches files and folders for whoever asks, with one system watch for all that ask for the same path. Where the system
 * can't watch (or is found to have missed a change), it asks every 250 ms instead. Nothing here keeps the process alive.
 */
export interface Watcher {
  /**
   * Yields at once, and whenever the file at `path` may have changed (also when it vanishes, appears or is replaced); ends
   * with the signal. Watching begins with this call, so what is read after it, or after any yield, misses nothing.
   */
  file(path: string, signal: AbortSignal): AsyncIterable<void>;
  /**
   * Yields the name that changed in the folder at `path`, or undefined when it is not told (anything may have changed);
   * ends with the signal. Watching begins with this call: list after it. A folder that is polled tells only that names
   * came or went, and not what is written into its files.
   */
  folder(path: string, signal: AbortSignal): AsyncIterable<string | undefined>;
}

/** How a watcher goes about it; what is left out is as in the product. */
export interface WatcherOptions {
  /** How often a path is asked for that can't be watched: ms. */
  readonly pollMs?: number;
  /** How often a watched path is asked for all the same: ms. */
  readonly backstopMs?: number;
  /** How long the system may take to tell a change that a stat has shown: ms. */
  readonly graceMs?: number;
  readonly watch?: SystemWatch;
  readonly stamp?: WatchSystem["stamp"];
}

/** A watcher. It holds a timer and system watches only while there is someone whose signal has not aborted. */
export function createWatcher(options: WatcherOptions = {}): Watcher {
  const { pollMs = 250, backstopMs = 2_000, graceMs = 100, watch = watchOfSystem, stamp = stampOf } = options;
  const paths = new Map<string, WatchedPath>();
  const rounds = Math.max(1, Math.round(backstopMs / pollMs));
  let timer: NodeJS.Timeout | undefined;

  const subscribe = (path: string, signal: AbortSignal, told: (reader: Reader, name?: string) => void): Reader => {
    const tell: Told = (name) => told(reader, name);
    const reader: Reader = new Subscription<string>(signal, () => {
      const watched = paths.get(path);
      if (watched === undefined || !watched.remove(tell)) return;
      watched.close();
      paths.delete(path);
      if (paths.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    });
    if (reader.ended) return reader;
    const watched = paths.get(path) ?? new WatchedPath(path, { watch, stamp, graceMs });
    paths.set(path, watched);
    watched.add(tell);
    timer ??= setInterval(asker(paths, rounds), pollMs).unref();
    return reader;
  };

  return {
    file(path, signal) {
      const reader = subscribe(path, signal, (file) => file.tell(undefined));
      reader.tell(undefined);
      return reader as AsyncIterable<undefined>;
    },
    folder: (path, signal) => subscribe(path, signal, (folder, name) => folder.tell(name)),
  };
}

type Reader = Subscription<string>;

/** Asks, at each tick, every path that can't be watched, and every one in so many of those that are. */
function asker(paths: ReadonlyMap<string, WatchedPath>, rounds: number): () => void {
  let round = 0;
  return () => {
    round = (round + 1) % rounds;
    let index = 0;
    for (const path of paths.values()) {
      if (!path.watched) path.poll();
      else if (index % rounds === round) path.backstop();
      index++;
    }
  };
}

function watchOfSystem(path: string, told: Told, failed: () => void): { close(): void } {
  const watcher = watchPath(path, { persistent: false }, (_event, name) => told(name ?? undefined));
  watcher.on("error", failed);
  return watcher;
}
