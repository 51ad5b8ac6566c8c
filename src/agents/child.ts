import type { ProcessIdentity } from "../platform/process-identity.ts";

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** What to start. */
export interface ChildCommand {
  /** A program by its path, or by its name on the path. */
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** All variables that it gets. */
  readonly env: { readonly [name: string]: string };
}

/** A process that we started, and what it started in turn. */
export interface Child {
  readonly identity: ProcessIdentity;
  /** What it prints, as it comes. Not read, it waits: so a flood is held back. */
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly stderr: AsyncIterable<Uint8Array>;
  /** Comes back when the child has taken it, or is gone. Never fails. */
  write(bytes: Uint8Array | string): Promise<void>;
  /** Its standard input is over. */
  closeInput(): void;
  /** When it has ended and all that it printed was given out. Never fails. */
  readonly exited: Promise<Exit>;
  /** Ends it and all that it started: politely, then (after `graceMs`) for good. Comes back when none is left. */
  end(graceMs: number): Promise<Exit>;
}
