import { join } from "node:path";
import type { TestContext } from "node:test";
import type { RouteContext } from "../../src/routes/context.ts";
import { eventsRoute } from "../../src/routes/events.ts";
import { jobRoutes } from "../../src/routes/jobs.ts";
import { runRoutes } from "../../src/routes/runs.ts";
import { stateRoute } from "../../src/routes/state.ts";
import { transcriptRoutes } from "../../src/routes/transcripts.ts";
import { RunInventory } from "../../src/runs/inventory.ts";
import type { Route } from "../../src/server/route.ts";
import { Inventory } from "../../src/stores/inventory.ts";
import { Pages } from "../../src/stores/pages.ts";
import { temporaryFolder } from "../platform/folder.ts";
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

export function served(t: TestContext): Served {
  const store = new FakeStore();
  const time = new FakeTime();
  const inventory = new Inventory({ stores: [store], clock: time, timer: time, home: "/home/someone" });
  const bridgeHome = join(temporaryFolder(t), "bridge");
  const runs = new RunInventory({ bridgeHome, clock: time });
  const end = new AbortController();
  const faults: unknown[] = [];
  const context: RouteContext = {
    stores: [store],
    inventory,
    runs,
    pages: new Pages(time),
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
    stateRoute(context),
    ...transcriptRoutes(context),
    ...runRoutes(context),
    ...jobRoutes(context),
    eventsRoute(context),
  ];
  return { routes, store, inventory, runs, time, end, bridgeHome, faults };
}
