import type { Sessions } from "../agents/sessions.ts";
import type { OwnSessions } from "../peers/own-sessions.ts";
import type { Peers } from "../peers/peer.ts";
import type { Timer } from "../platform/timer.ts";
import type { RunInventory } from "../runs/inventory.ts";
import type { Inventory } from "../stores/inventory.ts";
import type { Pages } from "../stores/pages.ts";
import type { Store } from "../stores/store.ts";
import type { ExportDesk } from "./export-desk.ts";

/** What the routes answer from; made once, when the server starts. */
export interface RouteContext {
  readonly stores: readonly Store[];
  /** Started by whoever made it. */
  readonly inventory: Inventory;
  /** Runs and jobs. */
  readonly runs: RunInventory;
  readonly pages: Pages;
  /** Sessions of ours, live and ended: they say what was recorded of which agent's session. */
  readonly own: Pick<OwnSessions, "read">;
  readonly exports: ExportDesk;
  readonly timer: Timer;
  /** Told of an error that was not foreseen where no status can tell of it: inside a stream that goes on. */
  fault(route: string, error: unknown): void;
  /** The program's version. */
  readonly version: string;
  readonly pid: number;
  /** Tells this run of the server from any other, so that a list's ETag does not outlive it. */
  readonly bootNonce: string;
}

/** What the routes of sessions answer from besides. */
export interface SessionContext extends RouteContext {
  /** The sessions that this program starts. */
  readonly sessions: Sessions;
}

/** What the routes of peers, and of the chats of sessions, answer from besides. */
export interface PeerContext extends RouteContext {
  /** Also those that joined. */
  readonly own: OwnSessions;
  readonly peers: Peers;
}
