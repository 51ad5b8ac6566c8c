import type { EpochMs } from "../platform/clock.ts";
import type { SessionId } from "../transcript/names.ts";
import type { PermissionOption } from "./event.ts";
import type { Output } from "./output.ts";

/** What a session is driven through: an agent over ACP, a program over pipes, or a program on a terminal of its own. */
export type SessionKind = "agent" | "command" | "terminal";

/**
 * What a session is doing. The first four are live: `awaiting-input` has asked for permission and waits for the answer.
 * `ended` was stopped or ended well, `failed` ended by itself and badly, `interrupted` lost the server that had started it.
 */
export type SessionStatus = "starting" | "idle" | "busy" | "awaiting-input" | "ended" | "failed" | "interrupted";

/** How an agent's questions for permission are answered: put to whoever asks, or all of them one way. */
export type Permit = "ask" | "deny" | "allow";

/** A question of the agent that nobody has answered yet. */
export interface PendingPermission {
  readonly toolCallId: string;
  /** What the call does, in the agent's words. */
  readonly title?: string;
  /** What the call is given: JSON, cut where it is long. */
  readonly input?: string;
  readonly options: readonly PermissionOption[];
}

/** A session as the API shows it. Times in ms since the epoch. */
export interface SessionDescriptor {
  readonly id: SessionId;
  readonly kind: SessionKind;
  readonly status: SessionStatus;
  /** Of agent sessions: `claude`, `codex`, … or a name in `config.json`. */
  readonly agent?: string;
  readonly name?: string;
  readonly cwd: string;
  readonly model?: string;
  /** The words of a command or terminal session. */
  readonly argv?: readonly string[];
  /** The size of a terminal now. */
  readonly columns?: number;
  readonly rows?: number;
  readonly permit?: Permit;
  /** The id that the agent's own store gives it. */
  readonly nativeSessionId?: string;
  readonly startedAt: EpochMs;
  readonly endedAt?: EpochMs;
  readonly restartedFrom?: SessionId;
  /** Of a live one. */
  readonly pid?: number;
  /** Of one that has ended: how its process did. */
  readonly exitCode?: number;
  readonly signal?: string;
  /** Why it failed: one line for a person. */
  readonly error?: string;
  /** Questions that wait for an answer, oldest first. */
  readonly permissions?: readonly PendingPermission[];
}

/** What to start. */
export interface StartSession {
  readonly kind: SessionKind;
  /** Of agent sessions. */
  readonly agent?: string;
  readonly argv?: readonly string[];
  /** An absolute path. */
  readonly cwd: string;
  readonly name?: string;
  readonly model?: string;
  readonly permit?: Permit;
  /** The size of a terminal; 80 × 24. */
  readonly columns?: number;
  readonly rows?: number;
}

/** How a turn ended. `seq`: the number of the last record that belongs to it. */
export interface TurnEnd {
  /** `completed`, `cancelled`, … as the recording's `turn-end` says, or `awaiting-input` while a question waits for its answer. */
  readonly reason: string;
  readonly seq: number;
}

/** A prompt that the session has taken. */
export interface AcceptedPrompt {
  readonly id: SessionId;
  /** The number of the prompt's record. */
  readonly seq: number;
  /** When the turn has ended, or waits for an answer. Never fails. */
  readonly ended: Promise<TurnEnd>;
}

/** What is put into a command or terminal session. */
export interface SessionInput {
  readonly text?: string;
  /** Its standard input is over (of a terminal: the end-of-file character). */
  readonly end?: boolean;
  /** Both: the new size of a terminal. */
  readonly columns?: number;
  readonly rows?: number;
}

/**
 * The sessions that this program starts, live and ended: the one thing that starts, drives and ends them. Every method that
 * names a session takes its id. A session that is not known: Failure not-found. One that is not in the state for it (it has
 * ended; it is busy; another process drives it; it is of another kind): Failure conflict, whose message says which.
 */
export interface Sessions {
  /** All of them, the last started first. Recordings of other programs are not among them. */
  list(): Promise<readonly SessionDescriptor[]>;
  /** By id, else the live one with that name, else the last ended one. */
  find(idOrName: string): Promise<SessionDescriptor | undefined>;
  /** Comes back when the session is up. @throws Failure usage, bad-request (the folder, the agent, too many), conflict (it did not come up) */
  start(what: StartSession): Promise<SessionDescriptor>;
  /** With `interrupt`, a running turn is cancelled first. @throws Failure bad-request: empty or too long · conflict */
  prompt(
    id: SessionId,
    text: string,
    how?: { readonly interrupt?: boolean; readonly source?: string },
  ): Promise<AcceptedPrompt>;
  /** Cancels the running turn and comes back when it has ended; nothing happens when none runs. */
  cancel(id: SessionId): Promise<void>;
  /** @throws Failure not-found: no such question · bad-request: no such option */
  answer(id: SessionId, toolCallId: string, optionId: string): Promise<void>;
  /** Ends it if it is live, and starts another like it that goes on with its conversation where the agent can. */
  restart(id: SessionId): Promise<SessionDescriptor>;
  input(id: SessionId, input: SessionInput): Promise<void>;
  /** Ends it; nothing happens when it has ended. */
  stop(id: SessionId): Promise<SessionDescriptor>;
  /** What it printed; undefined when that is gone, as after a restart of the server. */
  output(id: SessionId): Output | undefined;
  /** Yields whenever `list` would say something else; ends with the signal. */
  changes(signal: AbortSignal): AsyncIterable<void>;
  /** Ends all of them. Done within 5 s; `leave`: what is then still to be written is left. */
  close(leave?: AbortSignal): Promise<void>;
}
