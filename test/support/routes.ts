import { join } from "node:path";
import type { TestContext } from "node:test";
import type { KnownAgent } from "../../src/agents/agent-command.ts";
import type { RouteContext } from "../../src/routes/context.ts";
import { eventsRoute } from "../../src/routes/events.ts";
import { ExportDesk } from "../../src/routes/export-desk.ts";
import { jobRoutes } from "../../src/routes/jobs.ts";
import { runRoutes } from "../../src/routes/runs.ts";
import { sessionRoutes } from "../../src/routes/sessions.ts";
import { stateRoute } from "../../src/routes/state.ts";
import { transcriptRoutes } from "../../src/routes/transcripts.ts";
import { RunInventory } from "../../src/runs/inventory.ts";
import type { Route } from "../../src/server/route.ts";
import { Inventory } from "../../src/stores/inventory.ts";
import { Pages } from "../../src/stores/pages.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { FakeSessions } from "./fake-sessions.ts";
import { FakeStore } from "./fake-store.ts";
import { FakeTime } from "./fake-time.ts";

/** The routes over one fake store, and what stands behind them. */
export interface Served {
  readonly routes: readonly Route[];
  readonly store: FakeStore;
  readonly inventory: Inventory;
  readonly runs: RunInventory;
  readonly time: FakeTime;
  readonly end: AbortController;
  /** Our own folder, which is not there yet. */
  readonly bridgeHome: string;
  /** Errors that were not foreseen, as told to the log. */
  readonly faults: unknown[];
}

/** The agents that can be started where `served` is. */
const AGENTS: readonly KnownAgent[] = [
  { name: "claude", isInstalled: true, remedy: "" },
  { name: "codex", isInstalled: false, remedy: "install it" },
];

/** As `Served`, with the routes of sessions. */
export interface ServedSessions extends Served {
  readonly sessions: FakeSessions;
  /** Recordings, ours and of other programs. */
  readonly recordings: FakeStore;
}

/** The routes over a fake store, sessions of a test's making and their recordings. */
export function servedSessions(t: TestContext): ServedSessions {
  const sessions = new FakeSessions();
  const recordings = new FakeStore("daemon");
  t.after(() => recordings.remove());
  return { ...served(t, { sessions, recordings }), sessions, recordings };
}

export function served(t: TestContext, more?: { sessions: FakeSessions; recordings: FakeStore }): Served {
  const store = new FakeStore();
  const stores = more === undefined ? [store] : [store, more.recordings];
  const time = new FakeTime();
  const inventory = new Inventory({ stores, clock: time, timer: time, home: "/home/someone" });
  const bridgeHome = join(temporaryFolder(t), "bridge");
  const runs = new RunInventory({ bridgeHome, clock: time });
  const end = new AbortController();
  const faults: unknown[] = [];
  const context: RouteContext = {
    stores,
    inventory,
    runs,
    pages: new Pages(time),
    own: { read: () => ({ sessions: [], peers: [] }) },
    exports: new ExportDesk(join(bridgeHome, "cache")),
    timer: time,
    fault: (_route, error) => faults.push(error),
    version: "1.2.3",
    pid: 42,
    bootNonce: "nonce",
  };
  t.after(async () => {
    end.abort();
    await inventory.close();
    store.remove();
  });
  const routes = [
    stateRoute({ ...context, startable: { list: () => AGENTS } }),
    ...transcriptRoutes(context),
    ...runRoutes(context),
    ...jobRoutes(context),
    ...(more === undefined ? [] : sessionRoutes({ ...context, sessions: more.sessions })),
    eventsRoute({ ...context, ...more }),
  ];
  return { routes, store, inventory, runs, time, end, bridgeHome, faults };
}
