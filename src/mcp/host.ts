import type { PermissionOption, SessionEvent } from "../agents/event.ts";
import type { PendingPermission, Permit } from "../agents/sessions.ts";
import type { Peer } from "../peers/peer.ts";
import type { Timer } from "../platform/timer.ts";
import type { AskedChat } from "../routes/asked-chat.ts";
import type { Inventory } from "../stores/inventory.ts";
import type { Pages } from "../stores/pages.ts";
import type { Store } from "../stores/store.ts";

/** The parts of the program that tools call. */
export interface Host {
  readonly version: string;
  /** What a client tells its model of this server. */
  readonly instructions: string;
  readonly timer: Timer;
  /** `message` in the words that call this program, without a path of our own folder. */
  said(message: string): string;
  /** Told of an error that was not foreseen. */
  fault(method: string, error: unknown): void;
  /** Every session of this machine, and the pages of their chats. Not started: each look asks every file. */
  histories(): Promise<{
    readonly inventory: Inventory;
    readonly pages: Pages;
    readonly stores: readonly Pick<Store, "agent" | "report">[];
  }>;
  /** @throws Failure as `askedChat`, in words for a model */
  asked(session: string, child: string | undefined): Promise<AskedChat>;
  /** Where an export may wait that is too long to be held in memory. */
  readonly spoolFolder: string;
  /** Who is live. */
  peers(): Promise<readonly Peer[]>;
  /** Gives the session that runs this server a name. @throws Failure: it can't be told which one does, or no server runs */
  join(name: string | undefined): Promise<Peer>;
  /** Absent: agents can't be started or prompted from here. */
  readonly agents?: AgentHost;
}

/** Agents that are driven, by the server that runs on this home or else by this process. */
export interface AgentHost {
  /** Comes back when it is up; `seq`: the number of the prompt's record. */
  start(what: StartAgent, signal: AbortSignal): Promise<AgentState & { readonly seq?: number | undefined }>;
  /** The number of the prompt's record; with `wait`, also how the turn ended. @throws the signal's reason */
  prompt(
    session: string,
    text: string,
    how: { readonly interrupt: boolean; readonly wait: boolean; readonly signal: AbortSignal },
  ): Promise<{ readonly id: string; readonly seq: number; readonly reason?: string }>;
  state(session: string): Promise<AgentState>;
  /** What is recorded behind the number `since`, some of it. */
  records(session: string, since: number): Promise<AgentRecords>;
}

/** What to start. */
export interface StartAgent {
  readonly agent: string;
  /** An absolute path. */
  readonly cwd: string;
  readonly name?: string | undefined;
  readonly model?: string | undefined;
  readonly permit: Permit;
  readonly prompt?: string | undefined;
}

/** A session of an agent that is driven. */
export interface AgentState {
  readonly id: string;
  readonly status: string;
  readonly agent?: string | undefined;
  readonly name?: string | undefined;
  readonly cwd: string;
  readonly error?: string | undefined;
  readonly permissions: readonly (Pick<PendingPermission, "toolCallId" | "title"> & {
    readonly options: readonly PermissionOption[];
  })[];
}

/** Some records of a session. */
export interface AgentRecords {
  /** An event is undefined for kinds that say nothing to anyone. */
  readonly records: readonly { readonly seq: number; readonly event: SessionEvent | undefined }[];
  /** The number behind which the next read goes on. */
  readonly next: number;
  /** There is nothing more now. */
  readonly complete: boolean;
}
