// The answers of the API, as far as the page reads them. Fields are only ever added there, and unknown ones ignored here.

/** An agent whose sessions can be read. */
export type AgentName = "claude" | "codex" | "opencode" | "hermes" | "daemon";

/** The agents whose sessions can be read, in the order in which they are shown. */
export const AGENTS: readonly AgentName[] = ["claude", "codex", "opencode", "hermes", "daemon"];

/** A session in a list. Times in ms since the epoch. */
export interface Row {
  readonly agent: AgentName;
  readonly id: string;
  readonly title: string;
  /** Empty when the store does not say. */
  readonly cwd: string;
  readonly branch?: string;
  readonly startedAt: number;
  readonly updatedAt: number;
  readonly bytes?: number;
  readonly model?: string;
  readonly parent?: string;
  readonly live?: { readonly pid: number; readonly activity?: string };
  readonly resume?: { readonly command: readonly string[]; readonly cwd: string };
}

/** Counts of tokens, each where the store gives it. */
export interface Tokens {
  readonly input?: number;
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly reasoning?: number;
}

/** A session with its totals; `counting` until they are counted. */
export interface SessionEntry extends Row {
  readonly tokens?: Tokens;
  readonly costUsd?: number;
  readonly counting?: true;
}

/** `GET /api/transcripts` */
export interface RowPage {
  readonly transcripts: readonly Row[];
  readonly next: string | null;
  readonly total: number;
}

/** A project: the sessions of one git root, or of one folder outside of any; "" where the folder is not known. */
export interface Project {
  readonly project: string;
  readonly sessions: number;
  readonly live: number;
  readonly updatedAt: number;
  readonly agents: readonly AgentName[];
}

/** `GET /api/projects` */
export interface ProjectPage {
  readonly projects: readonly Project[];
  readonly next: string | null;
  readonly total: number;
}

/** A place in a chat; opaque. */
export type Cursor = string;

/** One thing that a chat shows. */
export interface Item {
  readonly kind: "user" | "assistant" | "tool" | "subagent";
  readonly at: number;
  readonly text?: string;
  readonly tool?: string;
  readonly summary?: string;
  readonly subagent?: { readonly id: string; readonly title: string; readonly agent: AgentName };
  /** An item that comes again with this id replaces the earlier one. */
  readonly id?: string;
  readonly ref: Cursor;
  /** On an output: the ref of its call. */
  readonly of?: Cursor;
  readonly error?: true;
  readonly cut?: true;
  /** It has grown here, and stands further up, where it began. */
  readonly earlier?: true;
}

/** An item as `…/item?ref=` gives it: uncut, and with the call's input. */
export interface UncutItem extends Item {
  readonly input?: unknown;
  readonly diffs?: readonly { readonly path: string; readonly oldText?: string | null; readonly newText: string }[];
}

/** A page of a chat. */
export interface ChatPage {
  readonly items: readonly Item[];
  /** Absent with `before`. */
  readonly next?: Cursor;
  /** Only with `before` and `from=tail`; null at the start of the chat. */
  readonly prev?: Cursor | null;
  readonly reset?: true;
}

/** A subagent in the list of its session. */
export interface Subagent {
  readonly id: string;
  readonly title: string;
  readonly status: "unknown" | "running" | "done" | "interrupted" | "failed";
  readonly startedAt: number;
  readonly updatedAt: number;
  readonly parent?: string;
}

/** A live session that has a name. */
export interface Peer {
  readonly name: string;
  readonly agent: string;
  readonly sessionId: string | null;
  readonly cwd: string;
  readonly startedAt: number;
  readonly pid?: number;
  readonly activity?: string;
  readonly title?: string;
}

/** How a run, or a job, stands. */
export type RunStatus = "running" | "done" | "failed" | "interrupted";

/** All of them, in the order in which they are shown. */
export const STATUSES: readonly RunStatus[] = ["running", "done", "failed", "interrupted"];

/** A run in a list; whatever else its metadata holds stands beside these. */
export interface Run {
  readonly name: string;
  readonly agent: string | null;
  readonly header: string;
  readonly startedAt: number;
  readonly updatedAt: number;
  readonly status: RunStatus;
  readonly last: string;
  readonly task: string;
  readonly by: string | null;
  readonly workdir: string | null;
  readonly continues: string | null;
  readonly archived: boolean;
  readonly recovered: boolean;
  readonly hasLog: boolean;
  readonly job?: string;
  readonly title?: string | null;
  readonly model?: string | null;
  readonly session?: string | null;
  readonly sessionId?: string | null;
  /** ms since the epoch. */
  readonly finishedAt?: number | null;
  readonly [more: string]: unknown;
}

/** `GET /api/runs` */
export interface RunPage {
  readonly runs: readonly Run[];
  readonly next: string | null;
  readonly total: number;
}

/** `GET /api/runs/<name>` */
export interface RunLog {
  readonly text: string;
  readonly next: number;
  readonly size: number;
  readonly recovered?: true;
  readonly hasLog?: false;
}

/** `GET /api/state` */
export interface State {
  readonly version: string;
  readonly pid: number;
  readonly peers: readonly Peer[];
  readonly runs: readonly Run[];
  readonly runsNext: string | null;
  readonly runsTotal: number;
  readonly running: readonly Run[];
  readonly jobs: { readonly [name: string]: { readonly name: string; readonly status: RunStatus } };
  readonly stores: readonly StoreState[];
  readonly agents?: readonly { readonly name: string; readonly installed: boolean; readonly remedy?: string }[];
}

/** A store in short. */
export interface StoreState {
  readonly agent: AgentName;
  readonly sessions: number;
  readonly roots: readonly { readonly path: string; readonly found: boolean }[];
  readonly skipped: number;
  readonly problem?: string;
}

/** How a session of ours stands; the first four are live. */
export type OwnStatus = "starting" | "idle" | "busy" | "awaiting-input" | "ended" | "failed" | "interrupted";

/** A session of an agent, a command or a terminal that was started from here. */
export interface OwnSession {
  readonly id: string;
  readonly kind: "agent" | "command" | "terminal";
  readonly status: OwnStatus;
  readonly cwd: string;
  readonly startedAt: number;
  readonly agent?: string;
  readonly name?: string;
  readonly model?: string;
  readonly argv?: readonly string[];
  /** The size of a terminal now. */
  readonly columns?: number;
  readonly rows?: number;
  readonly permit?: "ask" | "deny" | "allow";
  readonly nativeSessionId?: string;
  readonly endedAt?: number;
  readonly restartedFrom?: string;
  readonly pid?: number;
  readonly exitCode?: number;
  readonly signal?: string;
  readonly error?: string;
  readonly permissions?: readonly Question[];
}

/** A question that waits for an answer. */
export interface Question {
  readonly toolCallId: string;
  readonly title?: string;
  /** What the call is given: JSON, cut where it is long. */
  readonly input?: string;
  readonly options: readonly { readonly optionId: string; readonly name: string; readonly kind: string }[];
}

/** `GET /api/sessions` */
export interface OwnSessionPage {
  readonly sessions: readonly OwnSession[];
  readonly next: string | null;
  readonly total: number;
}

/** `GET /api/sessions/<id>/output` */
export interface Output {
  readonly text: string;
  readonly from: number;
  readonly next: number;
  readonly cut?: true;
}
