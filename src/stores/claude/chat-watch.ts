import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Timer } from "../../platform/timer.ts";
import type { Watcher } from "../../platform/watch.ts";
import { SETTLE_MS } from "../../transcript/limits.ts";
import { Mailbox, Pumps } from "./mailbox.ts";
import { type ClaudePlace, sideFoldersOf } from "./place.ts";

/** What a chat's watch needs. */
export interface ChatWatch {
  readonly watcher: Watcher;
  readonly timer: Timer;
  /** Where the chat lies now, when its file is gone from where it was, or another copy of it was written since. */
  moved(): Promise<ClaudePlace | undefined>;
  /** Calls `then` whenever another copy may be the one that goes on; what is returned ends that. */
  copied(then: () => void): () => void;
}

/** So much later than a spawn call settles, it surely is settled: ms. */
const SETTLED_MS = SETTLE_MS + 50;

/**
 * Yields whenever the chat at `place` may have grown: its transcript changed; for a session also, when one of its agents'
 * files did (a child's first record gives the child its place in the chat); and once more when a spawn call in what came
 * last has settled. The first time is at once (so the watcher promises), when everything is watched, so that nothing before is missed. A session that
 * moves to another folder, or goes on in a copy there, is followed.
 */
export async function* chatWatch(
  place: ClaudePlace,
  child: boolean,
  { watcher, timer, moved, copied }: ChatWatch,
  signal: AbortSignal,
): AsyncGenerator<void, void, undefined> {
  const bell = new Mailbox<"grown" | "settled" | "copied">();
  let unsettle = (): void => {};
  const grown = (): void => {
    bell.put("ring", "grown");
    unsettle();
    unsettle = timer.after(SETTLED_MS, () => bell.put("ring", "settled"));
  };
  let pumps = watchAt(place, child, watcher, grown, bell);
  let there = place;
  const leave = copied(() => bell.put("copied", "copied"));
  try {
    for await (const why of bell.take(signal)) {
      const elsewhere = why === "copied" || (why === "grown" && !existsSync(there.file));
      const now = elsewhere ? await moved() : undefined;
      if (now !== undefined && now.file !== there.file) {
        pumps.close();
        there = now;
        pumps = watchAt(there, child, watcher, grown, bell);
      } else if (why === "copied") continue;
      yield;
    }
  } finally {
    leave();
    unsettle();
    pumps.close();
  }
}

function watchAt(
  place: ClaudePlace,
  child: boolean,
  watcher: Watcher,
  grown: () => void,
  bell: Mailbox<"grown" | "settled" | "copied">,
): Pumps {
  const pumps = new Pumps((error) => bell.fail(error));
  pumps.run((ended) => watcher.file(place.file, ended), grown);
  const sideFolders = child ? [] : sideFoldersOf(place);
  for (const sideFolder of sideFolders) watchAgents(sideFolder, watcher, grown, pumps);
  return pumps;
}

/** Watches the folder of the agents' transcripts; while there is none, the nearest folder above it that there is. */
function watchAgents(sideFolder: string, watcher: Watcher, grown: () => void, pumps: Pumps): void {
  const agents = join(sideFolder, "subagents");
  const chain = [agents, sideFolder, dirname(sideFolder)];
  let level = chain.length;
  let stop = (): void => {};
  const descend = (): void => {
    const found = chain.findIndex((folder) => existsSync(folder));
    if (found < 0 || found >= level) return;
    level = found;
    stop();
    const folder = chain[found] ?? agents;
    const next = chain[found - 1];
    stop = pumps.run(
      (ended) => watcher.folder(folder, ended),
      (name) => {
        if (next === undefined) return grown();
        if (name !== undefined && name !== basename(next)) return;
        descend();
        if (level < found) grown();
      },
    );
    // It may have been made between the look and the watch.
    if (next !== undefined && existsSync(next)) descend();
  };
  descend();
}
