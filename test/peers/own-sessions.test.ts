import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { OwnSessions, SavedPeer, SavedSession } from "../../src/peers/own-sessions.ts";
import { openOwnSessions } from "../../src/peers/own-sessions-file.ts";
import { type EpochMs, systemClock } from "../../src/platform/clock.ts";
import { Failure } from "../../src/platform/failure.ts";
import { withLock } from "../../src/platform/lock.ts";
import { ourIdentity } from "../../src/platform/process-identity.ts";
import { temporaryFolder } from "../platform/folder.ts";

interface Opened extends OwnSessions {
  readonly bridgeHome: string;
  readonly file: string;
  content(): unknown;
}

function opened(t: TestContext, content?: unknown, dropped = (_count: number): void => {}): Opened {
  const bridgeHome = join(temporaryFolder(t), "home");
  const file = join(bridgeHome, "sessions.json");
  if (content !== undefined) {
    mkdirSync(bridgeHome, { recursive: true, mode: 0o700 });
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  }
  const own = openOwnSessions({ bridgeHome, clock: systemClock, wait: { waitMs: 200, tryEveryMs: 5 }, dropped });
  return { ...own, bridgeHome, file, content: () => JSON.parse(readFileSync(file, "utf8")) };
}

const at = (ms: number): EpochMs => ms as EpochMs;
const session = (id: string, more: Partial<SavedSession> = {}): SavedSession => ({
  id,
  kind: "agent",
  agent: "gemini",
  cwd: "/w",
  startedAt: at(1),
  status: "idle",
  ...more,
});
const peer = (name: string, more: Partial<SavedPeer> = {}): SavedPeer => ({
  name,
  agent: "claude",
  sessionId: "s1",
  cwd: "/w",
  process: { pid: 4242, start: "7" },
  joinedAt: at(5),
  ...more,
});
const isFailure = (text: RegExp) => (error: unknown) =>
  error instanceof Failure && error.kind === "failed" && text.test(error.message);

test("without a file there are no sessions and no peers", (t) => {
  assert.deepEqual(opened(t).read(), { sessions: [], peers: [] });
});

test("what was saved is read again, by another process too, from a file for us alone", async (t) => {
  const own = opened(t);
  await own.saveSession("sess_1", session("sess_1"));
  await own.saveSession("sess_1", { status: "busy", model: "m" });
  await own.savePeer(peer("a"));
  const records = { sessions: [session("sess_1", { status: "busy", model: "m" })], peers: [peer("a")] };
  assert.deepEqual(own.read(), records);
  assert.deepEqual(openOwnSessions({ bridgeHome: own.bridgeHome, clock: systemClock }).read(), records);
  assert.deepEqual(own.content(), { version: 1, ...records });
  assert.deepEqual([statSync(own.file).mode & 0o777, statSync(own.bridgeHome).mode & 0o777], [0o600, 0o700]);
  assert.deepEqual(readdirSync(own.bridgeHome).sort(), ["lock.db", "sessions.json"]);
});

test("an unchanged file is not read again", async (t) => {
  const own = opened(t);
  await own.saveSession("sess_1", session("sess_1"));
  const old = new Date(Date.now() - 10_000);
  execFileSync("touch", ["-d", old.toISOString(), own.file]);
  assert.equal(own.read(), own.read());
  await own.savePeer(peer("a"));
  assert.equal(own.read().peers.length, 1);
});

test("what nobody here knows is kept: fields of the file, of a session, of a peer, entries of another kind", async (t) => {
  const own = opened(t, {
    version: 1,
    future: [1],
    sessions: [7, { ...session("sess_1"), later: { a: 1 } }],
    peers: [{ ...peer("a"), later: 2 }, "x"],
  });
  await own.saveSession("sess_1", { status: "busy" });
  await own.savePeer(peer("a", { sessionId: null }));
  assert.deepEqual(own.content(), {
    version: 1,
    future: [1],
    sessions: [7, { ...session("sess_1", { status: "busy" }), later: { a: 1 } }],
    peers: ["x", { ...peer("a", { sessionId: null }), later: 2 }],
  });
});

test("entries that can't be read are passed over and counted", (t) => {
  const own = opened(t, {
    version: 1,
    sessions: [session("sess_1"), { ...session("../x") }, { ...session("a"), kind: "other" }, null],
    peers: [peer("a"), peer("a/b"), { ...peer("b"), process: {} }],
  });
  const { sessions, peers, problem } = own.read();
  assert.deepEqual([sessions, peers], [[session("sess_1")], [peer("a")]]);
  assert.equal(problem, "5 entries of sessions.json can't be read");
});

test("a damaged file, one of a newer version and a link are told of and never written", async (t) => {
  for (const [content, told] of [
    ["{", /^sessions\.json is damaged and is left as it is/],
    ["[]", /damaged/],
    [{ version: 1, sessions: {} }, /damaged/],
    [`{"version":1,"deep":${"[".repeat(5_000)}${"]".repeat(5_000)}}`, /damaged/],
    [{ version: 2, sessions: [], peers: [] }, /newer agent-bridge/],
  ] as const) {
    const own = opened(t, content);
    const before = readFileSync(own.file, "utf8");
    assert.throws(() => own.read(), isFailure(told));
    await assert.rejects(own.saveSession("sess_1", session("sess_1")), isFailure(told));
    assert.equal(readFileSync(own.file, "utf8"), before);
  }
  const own = opened(t);
  mkdirSync(own.bridgeHome, { mode: 0o700 });
  writeFileSync(join(own.bridgeHome, "elsewhere"), "{}");
  symlinkSync("elsewhere", own.file);
  assert.throws(() => own.read(), isFailure(/is a link/));
  await assert.rejects(own.savePeer(peer("a")), isFailure(/is a link/));
  assert.equal(readFileSync(join(own.bridgeHome, "elsewhere"), "utf8"), "{}");
});

test("a session that has ended loses what only a live one has, and undefined takes a field away", async (t) => {
  const own = opened(t);
  await own.saveSession("sess_1", session("sess_1", { owner: ourIdentity(), child: { pid: 77 }, error: "x" }));
  await own.saveSession("sess_1", { status: "ended", endedAt: at(9), error: undefined });
  assert.deepEqual(own.read().sessions, [session("sess_1", { status: "ended", endedAt: at(9) })]);
});

test("fields that make no session are refused, and what was asked for beside them is done", async (t) => {
  const own = opened(t);
  const [bad, good] = await Promise.allSettled([
    own.saveSession("sess_1", { status: "busy" }),
    own.saveSession("sess_2", session("sess_2")),
  ]);
  assert.deepEqual([bad.status, good.status], ["rejected", "fulfilled"]);
  assert.deepEqual(own.read().sessions, [session("sess_2")]);
});

test("of 10,000 ended sessions the oldest ended goes, a live one never", async (t) => {
  const ended = Array.from({ length: 10_000 }, (_, i) =>
    session(`sess_${i}`, { status: "ended", startedAt: at(1), endedAt: at(10_000 - i) }),
  );
  const live = session("sess_live", { owner: ourIdentity() });
  const own = opened(t, { version: 1, sessions: [live, ...ended], peers: [] });
  await own.saveSession("sess_new", session("sess_new", { owner: ourIdentity() }));
  assert.equal(own.read().sessions.length, 10_002);
  await own.saveSession("sess_more", session("sess_more", { status: "failed", endedAt: at(20_000) }));
  const ids = new Set(own.read().sessions.map(({ id }) => id));
  assert.deepEqual(
    [ids.size, ids.has("sess_9999"), ids.has("sess_live"), ids.has("sess_0")],
    [10_002, false, true, true],
  );
});

test("what is dropped of more than 10,000 ended sessions is told and counted", async (t) => {
  const ended = Array.from({ length: 10_020 }, (_, i) =>
    session(`sess_${i}`, { status: "ended", startedAt: at(1), endedAt: at(i) }),
  );
  const told: number[] = [];
  const own = opened(t, { version: 1, sessions: ended, peers: [] }, (count) => void told.push(count));
  assert.equal(own.read().dropped, undefined);
  const live = { owner: ourIdentity() };
  await own.saveSession("sess_new", session("sess_new", live));
  assert.deepEqual([told, own.read().dropped, own.read().sessions.length], [[20], 20, 10_001]);
  await own.saveSession("sess_new", { status: "ended", endedAt: at(20_000) });
  await own.saveSession("sess_more", session("sess_more", live));
  assert.deepEqual([told, own.read().dropped], [[20, 1], 21]);
});

test("a peer is removed only where what stands there is still the one that was meant", async (t) => {
  const own = opened(t);
  await own.savePeer(peer("a"));
  await own.savePeer(peer("b"));
  await own.removePeers(["a", "b", "c"], ({ name }) => name === "a");
  assert.deepEqual(own.read().peers, [peer("b")]);
  await own.savePeer(peer("c"), ["b"]);
  assert.deepEqual(own.read().peers, [peer("c")]);
});

test("changes that come while one is written, and those of another process, are all kept", async (t) => {
  const own = opened(t);
  const other = openOwnSessions({ bridgeHome: own.bridgeHome, clock: systemClock });
  const ids = Array.from({ length: 60 }, (_, i) => `sess_${i}`);
  await Promise.all(ids.map((id, i) => (i % 2 ? own : other).saveSession(id, session(id))));
  assert.deepEqual(new Set(own.read().sessions.map(({ id }) => id)), new Set(ids));
});

test("while another holds the lock for too long, saving fails and says so; later it works", async (t) => {
  const own = opened(t);
  await withLock(own.bridgeHome, () =>
    assert.rejects(own.savePeer(peer("a")), isFailure(/another agent-bridge is writing/)),
  );
  await own.savePeer(peer("a"));
  assert.deepEqual(own.read().peers, [peer("a")]);
});

/** The program of another process that saves sessions of its own, one after the other. */
const SAVER = `
  const [home, name, module] = process.argv.slice(1);
  const { openOwnSessions } = await import(module);
  const own = openOwnSessions({ bridgeHome: home, clock: { now: Date.now } });
  for (let i = 0; i < 10; i++) {
    const id = "sess_" + name + i;
    await own.saveSession(id, { kind: "agent", cwd: "/w", startedAt: i, status: "busy" });
    await own.saveSession(id, { status: "ended", endedAt: i });
  }
`;

test("what several processes save at once is all there, also when one of them is killed in the middle", async (t) => {
  const own = opened(t);
  const module = new URL("../../src/peers/own-sessions-file.ts", import.meta.url).href;
  const words = ["--no-warnings", "--experimental-strip-types", "--input-type=module", "-e", SAVER, own.bridgeHome];
  const start = (name: string): ChildProcess =>
    spawn(process.execPath, [...words, name, module], { stdio: ["ignore", "ignore", "inherit"] });
  const [a, b, killed] = [start("a"), start("b"), start("k")];
  const ends = Promise.all([a, b].map((child) => once(child, "exit")));
  while (!own.read().sessions.some(({ id }) => id.startsWith("sess_k"))) await new Promise((go) => setTimeout(go, 5));
  killed.kill("SIGKILL");
  assert.deepEqual(await ends, [
    [0, null],
    [0, null],
  ]);
  const saved = own.read().sessions.filter(({ id }) => !id.startsWith("sess_k"));
  assert.deepEqual([saved.length, new Set(saved.map(({ status }) => status))], [20, new Set(["ended"])]);
  await own.saveSession("sess_1", session("sess_1"));
  assert.deepEqual(readdirSync(own.bridgeHome).sort(), ["lock.db", "sessions.json"]);
});
