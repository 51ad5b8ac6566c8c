import { setTimeout as sleep } from "node:timers/promises";
import type { EpochMs } from "../../../src/platform/clock.ts";
import { Talk } from "./home/claude.ts";

/** Between two batches: ms. */
const BATCH_MS = 20;

/** A session that grows. */
export interface Growing {
  /** The session's id. */
  readonly session: string;
  /** How many numbered answers stand in it now. */
  readonly count: number;
  /** Stops, and comes back when the last batch is written; how many there are: `record 0` up to and without that number. */
  stop(): Promise<number>;
}

/**
 * Lets a session of Claude Code's grow by `perSecond` answers, each of which says `record N.`, in small batches, until it is
 * stopped. What a slow machine could not write in time is made up for in the next batch.
 */
export function grow(home: string, session: string, cwd: string, perSecond = 1000): Growing {
  const talk = new Talk(home, { session, cwd, branch: "main", startedAt: Date.now() as EpochMs, stepMs: 1 });
  talk.title("A session that grows").user("Count.").save();
  let count = 0;
  let stopped = false;
  const begun = performance.now();
  const writing = (async () => {
    while (!stopped) {
      const due = Math.floor(((performance.now() - begun) * perSecond) / 1000);
      for (; count < due; count++) talk.says(`record ${count}.`);
      talk.save();
      await sleep(BATCH_MS);
    }
  })();
  return {
    session,
    get count() {
      return count;
    },
    async stop() {
      stopped = true;
      await writing;
      return count;
    },
  };
}
