import type { SessionEvent } from "../agents/event.ts";
import type { Sessions } from "../agents/sessions.ts";
import type { OwnSessions } from "../peers/own-sessions.ts";
import type { AgentCommand } from "../platform/config.ts";
import type { Environment } from "../platform/environment.ts";
import type { RuntimeNotice } from "../platform/runtime-notice.ts";
import type { Timer } from "../platform/timer.ts";
import type { FollowTools } from "../routes/follow.ts";
import type { RunInventory } from "../runs/inventory.ts";
import type { ServerLog } from "../server/log.ts";
import type { Inventory } from "../stores/inventory.ts";
import type { Store, StoreReport } from "../stores/store.ts";

/** The parts of the house that commands call; `wiring.ts` makes the real one. */
export interface Bridge {
  /** The histories of this machine, with the extra roots of config.json. @throws Failure when config.json is wrong. */
  histories(environment: Environment): Promise<Histories>;
  /** The runs and jobs of our own folder. */
  runs(environment: Environment): RunInventory;
  /** The sessions that this program has started, and those that joined, as our own folder keeps them. */
  ownSessions(environment: Environment): OwnSessions;
  /** Drives sessions in this process; `happened` is told of all that agents do. They are to be closed. */
  drive(environment: Environment, happened: (event: SessionEvent) => void): Promise<Sessions>;
  readonly timer: Timer;
  /** The dashboard key, made when there is none. */
  key(environment: Environment): Promise<string>;
  /** A new key in the place of the old one, which no longer lets anyone in. */
  newKey(environment: Environment): Promise<string>;
  /** What there is of our own files. Never fails, and changes nothing. */
  ownFiles(environment: Environment): OwnFiles;
  /** The server that runs on this home now; undefined also when one has left its notice behind. */
  running(environment: Environment): Promise<RuntimeNotice | undefined>;
  /** A fresh way in to `running`: the address with a code that works once. */
  wayIn(environment: Environment, running: RuntimeNotice): Promise<string>;
  /** This process, as a live session names the one that has it open. */
  thisProcess(): { readonly pid: number; readonly procStart: string | undefined };
  /**
   * Serves on 127.0.0.1 until closed.
   * @throws PortTaken · HomeServed when another server runs on this home, also one that starts at the same moment
   */
  serve(environment: Environment, port: number, log: ServerLog): Promise<Serving>;
}

/** What the agents of this machine have written. */
export interface Histories {
  readonly stores: readonly Store[];
  /** Not started: each look asks every file. */
  readonly inventory: Inventory;
  readonly tools: FollowTools;
  /** The commands that start agents, as `config.json` sets them. */
  readonly agents: ReadonlyMap<string, AgentCommand>;
}

/** What is in our own folder; a `problem` is a sentence that says what to do. */
export interface OwnFiles {
  readonly home: {
    readonly path: string;
    readonly found: boolean;
    readonly warning?: string;
    readonly problem?: string;
  };
  readonly key: { readonly found: boolean; readonly problem?: string };
  readonly config: {
    readonly found: boolean;
    readonly port?: number;
    readonly warnings: readonly string[];
    readonly problem?: string;
  };
}

/** The server of this process. */
export interface Serving extends RuntimeNotice {
  /** What each store holds, once all of it is listed. */
  reports(): Promise<readonly StoreReport[]>;
  /** Ends streams, connections and the notice; done within a second. */
  close(): Promise<void>;
}
