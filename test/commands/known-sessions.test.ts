import assert from "node:assert/strict";
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { knownSessions } from "../../src/commands/known-sessions.ts";
import type { OwnSessions } from "../../src/peers/own-sessions.ts";
import { openOwnSessions, SESSIONS_FILE } from "../../src/peers/own-sessions-file.ts";
import { type EpochMs, systemClock } from "../../src/platform/clock.ts";
import { environmentFrom } from "../../src/platform/environment.ts";
import { ourIdentity } from "../../src/platform/process-identity.ts";
import { systemTimer } from "../../src/platform/timer.ts";
import { createWatcher } from "../../src/platform/watch.ts";
import { Inventory } from "../../src/stores/inventory.ts";
import { RecordedStore } from "../../src/stores/recorded/store.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { sid } from "../support/fake-store.ts";
import { until } from "../support/until.ts";

const OURS = sid("sess_00000001");
const OTHER = sid("ses_other");

interface Recorded {
  readonly home: string;
  readonly own: OwnSessions;
  readonly store: RecordedStore;
  readonly inventory: Inventory;
  record(id: string, record?: object): void;
}

/** A home with sessions of ours and of another program, and what is listed of them. */
function recorded(t: TestContext): Recorded {
  const home = temporaryFolder(t);
  const environment = environmentFrom({ home });
  const { bridgeHome } = environment;
  const own = openOwnSessions({ bridgeHome, clock: systemClock });
  const watcher = createWatcher();
  const known = knownSessions(own, (signal) => watcher.file(join(bridgeHome, SESSIONS_FILE), signal));
  const store = new RecordedStore({ environment, clock: systemClock, watcher, extraRoots: [], known });
  const inventory = new Inventory({ stores: [store], clock: systemClock, timer: systemTimer, home });
  t.after(() => inventory.close());
  const record = (id: string, more: object = {}): void => {
    const folder = join(home, ".agentproto", "sessions", id);
    mkdirSync(folder, { recursive: true });
    const fields = { seq: 1, ts: "2026-02-03T10:00:00.000Z", kind: "user-prompt", sessionId: id, text: "Go", ...more };
    appendFileSync(join(folder, "events.jsonl"), `${JSON.stringify(fields)}\n`);
  };
  return { home, own, store, inventory, record };
}

const SAVED = { kind: "agent", agent: "gemini", model: "m-1", status: "busy", startedAt: 1 as EpochMs } as const;

test("a recording of a session of ours has the folder, the model and the life that sessions.json knows", async (t) => {
  const { home, own, store, inventory, record } = recorded(t);
  record(OURS);
  record(OTHER, { cwd: "/elsewhere" });
  await own.saveSession(OURS, { ...SAVED, cwd: home, owner: ourIdentity(), child: { pid: 77 } });
  await inventory.settled();
  const row = inventory.row("daemon", OURS);
  const { cwd, model, live } = row ?? {};
  assert.deepEqual({ cwd, model, live }, { cwd: home, model: "m-1", live: { pid: 77, activity: "busy" } });
  const rows = async (project: string) => (await inventory.query({ project })).transcripts.map(({ id }) => id);
  assert.deepEqual(await rows(home), [OURS]);
  assert.deepEqual(await rows("/elsewhere"), [OTHER]);
  assert.deepEqual(await store.live(), [], "its peers come from sessions.json");
});

test("a row stays the same one until its recording or sessions.json says something else", async (t) => {
  const { home, own, store, record } = recorded(t);
  record(OURS);
  record(OTHER);
  await own.saveSession(OURS, { ...SAVED, cwd: home, owner: ourIdentity() });
  const first = await store.list("sweep");
  await own.saveSession("sess_00000002", { ...SAVED, cwd: home });
  assert.equal(await store.list("quick"), first);
  assert.equal(await store.list("sweep"), first);
  await own.saveSession(OURS, { status: "ended", endedAt: 2 as EpochMs });
  const second = await store.list("quick");
  const changed = second.filter((row) => !first.includes(row));
  assert.deepEqual(
    changed.map(({ id, cwd, live }) => ({ id, cwd, live })),
    [{ id: OURS, cwd: home, live: undefined }],
  );
  record(OURS, { seq: 2, kind: "usage_snapshot", model: "m-2", cwd: "/w" });
  const [third] = (await store.list("sweep")).filter(({ id }) => id === OURS);
  assert.deepEqual([third?.model, third?.cwd], ["m-2", "/w"], "a recording's own word goes first");
});

test("a session whose driver is gone is not live, and a damaged sessions.json hides no recording", async (t) => {
  const { home, own, store, record } = recorded(t);
  record(OURS);
  await own.saveSession(OURS, { ...SAVED, cwd: home, owner: { ...ourIdentity(), start: "1" } });
  assert.deepEqual(
    (await store.list("sweep")).map(({ live }) => live),
    [undefined],
  );
  appendFileSync(join(home, ".agent-bridge", SESSIONS_FILE), "{");
  assert.deepEqual(
    (await store.list("sweep")).map(({ id, cwd }) => [id, cwd]),
    [[OURS, ""]],
  );
});

test("who follows the list is told when sessions.json says something else", { timeout: 20_000 }, async (t) => {
  const { home, own, inventory, record } = recorded(t);
  record(OURS);
  await own.saveSession(OURS, { ...SAVED, cwd: home, owner: ourIdentity() });
  inventory.start();
  await until(() => inventory.row("daemon", OURS)?.live?.activity === "busy");
  await own.saveSession(OURS, { status: "idle" });
  await until(() => inventory.row("daemon", OURS)?.live?.activity === "idle");
});
