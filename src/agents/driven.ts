import type { EpochMs } from "../platform/clock.ts";
import type { ProcessIdentity } from "../platform/process-identity.ts";
import type { SessionId } from "../transcript/names.ts";
import type { Exit } from "./child.ts";
import type { Output } from "./output.ts";
import type { Loss } from "./recording.ts";
import type { SessionDescriptor } from "./sessions.ts";

/** A session that this process drives, of whatever kind. */
export interface Driven {
  readonly id: SessionId;
  readonly output: Output;
  /** What it drives, once that runs. */
  readonly child: ProcessIdentity | undefined;
  readonly isLive: boolean;
  /** What could not be recorded so far. */
  readonly loss?: Loss | undefined;
  /** When what is written of its history besides is written, or known not to be. Never fails. */
  readonly logged?: Promise<unknown>;
  describe(): SessionDescriptor;
  /** When it has ended, also one that never came up. Never fails. */
  readonly ended: Promise<void>;
  /** It will never be started. */
  abandon(): void;
  /** Ends it, within `graceMs` and a little. */
  stop(graceMs: number): Promise<void>;
}

/** How a session ended. */
export interface Ending {
  readonly status: "ended" | "failed";
  readonly endedAt: EpochMs;
  readonly exit?: Exit | undefined;
  /** Why it failed: one line for a person. */
  readonly error?: string | undefined;
}

/** The fields of a descriptor that an ending gives. */
export function endingFields({ status, endedAt, exit, error }: Ending): Partial<SessionDescriptor> {
  return {
    status,
    endedAt,
    ...(exit?.code != null && { exitCode: exit.code }),
    ...(exit?.signal != null && { signal: exit.signal }),
    ...(error !== undefined && { error }),
  };
}
