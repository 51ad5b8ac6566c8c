import assert from "node:assert/strict";
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { SessionDescriptor } from "../../src/agents/sessions.ts";
import type { Bridge } from "../../src/commands/bridge.ts";
import type { SavedSession } from "../../src/peers/own-sessions.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { environmentFrom } from "../../src/platform/environment.ts";
import { systemTimer } from "../../src/platform/timer.ts";
import { createWatcher } from "../../src/platform/watch.ts";
import type { SessionContext } from "../../src/routes/context.ts";
import { eventsRoute } from "../../src/routes/events.ts";
import { ExportDesk } from "../../src/routes/export-desk.ts";
import { sessionRoutes } from "../../src/routes/sessions.ts";
import { RunInventory } from "../../src/runs/inventory.ts";
import { Inventory } from "../../src/stores/inventory.ts";
import { Pages } from "../../src/stores/pages.ts";
import { RecordedStore } from "../../src/stores/recorded/store.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { KEY, serve, type TestServer } from "../server/harness.ts";
import { FakeSessions } from "./fake-sessions.ts";

/** A server whose sessions a test drives, and their recordings on disk. */
export interface SessionServer {
  readonly server: TestServer;
  readonly sessions: FakeSessions;
  /** What commands find it by. */
  readonly bridge: Partial<Bridge>;
  /** The home folder of the user. */
  readonly home: string;
  /** Adds a record to a recording, also of another program. */
  record(id: string, record: object): void;
}

/** Starts one on a free port; it is closed after the test. */
export async function sessionServer(t: TestContext): Promise<SessionServer> {
  const home = temporaryFolder(t);
  const environment = environmentFrom({ home, platform: "linux" });
  const record = (id: string, fields: object): void => {
    const folder = join(home, ".agentproto", "sessions", id);
    mkdirSync(folder, { recursive: true });
    appendFileSync(join(folder, "events.jsonl"), `${JSON.stringify(fields)}\n`);
  };
  const sessions = new FakeSessions();
  sessions.record = (id, { seq, kind, ...fields }) =>
    record(id, { seq, ts: new Date().toISOString(), kind, sessionId: id, ...fields });
  const stores = [new RecordedStore({ environment, clock: systemClock, watcher: createWatcher(), extraRoots: [] })];
  const inventory = new Inventory({ stores, clock: systemClock, timer: systemTimer, home });
  const context: SessionContext = {
    ...{ stores, inventory, sessions, timer: systemTimer, pages: new Pages(systemClock) },
    runs: new RunInventory({ bridgeHome: join(home, ".agent-bridge"), clock: systemClock }),
    own: { read: () => ({ sessions: [], peers: [] }) },
    exports: new ExportDesk(join(home, ".agent-bridge/cache")),
    fault: (_route, error) => {
      throw error;
    },
    ...{ version: "1.2.3", pid: 42, bootNonce: "nonce" },
  };
  const server = await serve(t, [...sessionRoutes(context), eventsRoute(context)]);
  t.after(() => inventory.close());
  const notice = { url: server.url, port: server.port, pid: process.pid, bootNonce: "0f".repeat(16) };
  const tools = { pages: context.pages, timer: systemTimer };
  const notChanged = async (): Promise<never> => assert.fail("nothing is changed");
  const bridge: Partial<Bridge> = {
    running: async () => notice,
    key: async () => KEY,
    histories: async () => ({ stores, inventory, tools, agents: new Map() }),
    ownSessions: () => ({
      read: () => ({ sessions: [...sessions.all.values()].map(({ shown }) => savedOf(shown)), peers: [] }),
      saveSession: notChanged,
      savePeer: notChanged,
      removePeers: notChanged,
    }),
  };
  return { server, sessions, bridge, home, record };
}

/** A session as `sessions.json` would keep it. */
function savedOf({ id, kind, agent, name, cwd, startedAt, status }: SessionDescriptor): SavedSession {
  return {
    id,
    kind,
    cwd,
    startedAt,
    status,
    ...(agent !== undefined && { agent }),
    ...(name !== undefined && { name }),
  };
}
