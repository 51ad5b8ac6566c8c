import { join } from "node:path";
import { Bell, pause } from "../platform/bell.ts";
import type { Timer } from "../platform/timer.ts";
import type { Watcher } from "../platform/watch.ts";
import { type RunInventory, SWEEP_MS } from "./inventory.ts";

/** The least time between two looks that watching asks for: ms. */
const LOOK_PAUSE_MS = 100;

/** What following the runs needs. */
export interface FollowRunsTools {
  readonly watcher: Watcher;
  readonly timer: Timer;
}

/**
 * Has `inventory` look whenever something changes in the folders of `bridgeHome`, and every 10 s besides, so that its
 * `changes` are told to those who wait for them. Ends with the signal.
 * @throws nothing: a look that fails is made again with the next change
 */
export async function followRuns(
  inventory: RunInventory,
  bridgeHome: string,
  { watcher, timer }: FollowRunsTools,
  signal: AbortSignal,
): Promise<void> {
  const bell = new Bell();
  const runFolders = [join(bridgeHome, "runs"), join(bridgeHome, "runs", "archive")];
  const watching = [...runFolders, bridgeHome].map(async (folder) => {
    for await (const name of watcher.folder(folder, signal)) {
      if (name !== undefined && folder !== bridgeHome) inventory.noteWritten(name);
      bell.ring();
    }
  });
  while (!signal.aborted) {
    await inventory.look().catch(() => {});
    await pause(timer, LOOK_PAUSE_MS, signal);
    await bell.listen(signal, { timer, ms: SWEEP_MS });
  }
  await Promise.all(watching);
}
