import type { EpochMs } from "../platform/clock.ts";

/** A live session that has a name: a CLI's that joined, one that its store proves to be live, or an agent session of ours. */
export interface Peer {
  readonly name: string;
  /** `claude`, `codex`, …; of our own sessions also an agent that no store is read of (`gemini`). */
  readonly agent: string;
  /** The id in the agent's own store; null before it has one. */
  readonly sessionId: string | null;
  readonly cwd: string;
  readonly pid?: number;
  readonly startedAt: EpochMs;
  /** What it does, where that is known: `busy`, `idle`, … */
  readonly activity?: string;
  readonly title?: string;
}
