import type { SessionId } from "../../transcript/names.ts";

/** What whoever started a recorded session knows of it, which no recording says. */
export interface KnownSession {
  readonly cwd: string;
  readonly model?: string;
  /** It goes on. */
  readonly live?: { readonly pid: number; readonly activity?: string };
}

/** The recorded sessions of which more is known. */
export interface KnownSessions {
  /** What is known now, of each session that is asked for. Never fails. */
  look(): (id: SessionId) => KnownSession | undefined;
  /** Yields when it may have changed; ends with the signal. */
  changes(signal: AbortSignal): AsyncIterable<void>;
}

/** Whether both say the same. */
export function sameKnown(a: KnownSession | undefined, b: KnownSession | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.cwd === b.cwd && a.model === b.model && a.live?.pid === b.live?.pid && a.live?.activity === b.live?.activity;
}
