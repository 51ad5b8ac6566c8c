import { join } from "node:path";
import type { TestContext } from "node:test";
import type { OwnSessions, SavedSession } from "../../src/peers/own-sessions.ts";
import { openOwnSessions } from "../../src/peers/own-sessions-file.ts";
import { PeerRegistry } from "../../src/peers/registry.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { ourIdentity } from "../../src/platform/process-identity.ts";
import { systemTimer } from "../../src/platform/timer.ts";
import { createWatcher } from "../../src/platform/watch.ts";
import type { PeerContext } from "../../src/routes/context.ts";
import { eventsRoute } from "../../src/routes/events.ts";
import { ExportDesk } from "../../src/routes/export-desk.ts";
import { peerRoutes } from "../../src/routes/peers.ts";
import { sessionChatRoutes } from "../../src/routes/session-chat.ts";
import { stateRoute } from "../../src/routes/state.ts";
import { transcriptRoutes } from "../../src/routes/transcripts.ts";
import { RunInventory } from "../../src/runs/inventory.ts";
import type { Route } from "../../src/server/route.ts";
import { Inventory } from "../../src/stores/inventory.ts";
import { Pages } from "../../src/stores/pages.ts";
import type { Store } from "../../src/stores/store.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { COOKIE, serve, type TestServer } from "../server/harness.ts";
import { at, FakeStore } from "../support/fake-store.ts";

type Body = { readonly [key: string]: unknown };

/** A server with peers, over a store of Claude Code's and one of recordings. */
export interface PeerServer {
  readonly server: TestServer;
  readonly routes: readonly Route[];
  readonly claude: FakeStore;
  readonly recordings: FakeStore;
  readonly own: OwnSessions;
  readonly peers: PeerRegistry;
  /** Saves a live agent session of ours. */
  saveOwn(id: string, fields?: Partial<SavedSession>): Promise<void>;
  get(path: string): Promise<{ status: number; body: Body }>;
  post(body: unknown): Promise<{ status: number; body: Body }>;
  leave(name: string): Promise<{ status: number; body: Body }>;
}

export async function peerServer(t: TestContext, more: readonly Store[] = []): Promise<PeerServer> {
  const [claude, recordings] = [new FakeStore("claude"), new FakeStore("daemon")];
  const stores = [claude, recordings, ...more];
  const [clock, timer] = [systemClock, systemTimer];
  const bridgeHome = join(temporaryFolder(t), "bridge");
  const inventory = new Inventory({ stores, clock, timer, home: "/home/someone" });
  const own = openOwnSessions({ bridgeHome, clock });
  const peers = new PeerRegistry({
    ...{ own, stores, clock, timer, tidies: true },
    titleOf: (agent, id) => inventory.row(agent, id)?.title,
    watched: { bridgeHome, watcher: createWatcher() },
  });
  const context: PeerContext = {
    ...{ stores, inventory, timer, own, peers },
    runs: new RunInventory({ bridgeHome, clock }),
    pages: new Pages(clock),
    exports: new ExportDesk(join(bridgeHome, "cache")),
    fault: (_route, error) => {
      throw error;
    },
    ...{ version: "1.2.3", pid: 42, bootNonce: "nonce" },
  };
  const routes = [
    stateRoute(context),
    ...transcriptRoutes(context),
    ...peerRoutes(context),
    ...sessionChatRoutes(context),
    eventsRoute(context),
  ];
  const server = await serve(t, routes);
  t.after(async () => {
    await inventory.close();
    claude.remove();
    recordings.remove();
  });
  const ask = async (...asked: Parameters<TestServer["ask"]>): Promise<{ status: number; body: Body }> => {
    const { status, body } = await server.ask(...asked);
    return { status, body: JSON.parse(body) as Body };
  };
  const headers = { ...COOKIE, "content-type": "application/json" };
  return {
    ...{ server, routes, claude, recordings, own, peers },
    saveOwn: (id, fields) =>
      own.saveSession(id, {
        ...{ kind: "agent", agent: "claude", cwd: "/w", startedAt: at(500), status: "idle", owner: ourIdentity() },
        ...fields,
      }),
    get: (path) => ask(path, { headers: COOKIE }),
    post: (body) => ask("/api/peers", { method: "POST", headers, body: JSON.stringify(body) }),
    leave: (name) => ask(`/api/peers/${encodeURIComponent(name)}`, { method: "DELETE", headers: COOKIE }),
  };
}
