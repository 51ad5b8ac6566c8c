import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { SavedPeer, SavedSession } from "../../src/peers/own-sessions.ts";
import { openOwnSessions } from "../../src/peers/own-sessions-file.ts";
import type { Peer } from "../../src/peers/peer.ts";
import { PeerRegistry } from "../../src/peers/registry.ts";
import type { EpochMs } from "../../src/platform/clock.ts";
import { Failure, type FailureKind } from "../../src/platform/failure.ts";
import { ourIdentity } from "../../src/platform/process-identity.ts";
import { systemTimer } from "../../src/platform/timer.ts";
import { createWatcher } from "../../src/platform/watch.ts";
import type { LiveProof } from "../../src/stores/store.ts";
import type { AgentName } from "../../src/transcript/names.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { FakeStore, sid } from "../support/fake-store.ts";
import { FakeTime } from "../support/fake-time.ts";
import { nextOf } from "../support/turns.ts";
import { liveProcess } from "./live-process.ts";

/** A store that counts how often it is asked for proofs. */
class ProvingStore extends FakeStore {
  asked = 0;

  override live(): Promise<readonly LiveProof[]> {
    this.asked++;
    return super.live();
  }
}

interface Home {
  readonly registry: PeerRegistry;
  readonly bridgeHome: string;
  readonly time: FakeTime;
  readonly claude: ProvingStore;
  readonly codex: ProvingStore;
  readonly titles: Map<string, string>;
  save(records: { sessions?: readonly SavedSession[]; peers?: readonly SavedPeer[] }): void;
  saved(): { sessions: SavedSession[]; peers: SavedPeer[] };
  /** Another registry on the same home, as after a restart of the server. */
  restarted(): PeerRegistry;
  names(): Promise<string[]>;
}

function homeFor(t: TestContext): Home {
  const bridgeHome = join(temporaryFolder(t), "home");
  const file = join(bridgeHome, "sessions.json");
  const [claude, codex] = [new ProvingStore("claude"), new ProvingStore("codex")];
  const time = new FakeTime();
  const titles = new Map<string, string>();
  const made = (): PeerRegistry =>
    new PeerRegistry({
      own: openOwnSessions({ bridgeHome, clock: time }),
      stores: [claude, codex],
      clock: time,
      timer: systemTimer,
      titleOf: (agent: AgentName, id) => titles.get(`${agent}/${id}`),
      watched: { bridgeHome, watcher: createWatcher() },
      tidies: true,
    });
  t.after(() => {
    claude.remove();
    codex.remove();
  });
  const registry = made();
  return {
    ...{ registry, bridgeHome, time, claude, codex, titles, restarted: made },
    save({ sessions = [], peers = [] }) {
      mkdirSync(bridgeHome, { recursive: true, mode: 0o700 });
      writeFileSync(file, JSON.stringify({ version: 1, sessions, peers }));
    },
    saved: () => JSON.parse(readFileSync(file, "utf8")),
    names: async () => (await registry.list()).map(({ name }) => name).sort(),
  };
}

const at = (ms: number): EpochMs => ms as EpochMs;
const proof = (id: string, more: Partial<LiveProof> = {}): LiveProof => ({
  id: sid(id),
  pid: process.pid,
  cwd: "/home/dev/shop",
  startedAt: at(1_000),
  ...more,
});
const ours = (id: string, more: Partial<SavedSession> = {}): SavedSession => ({
  id,
  kind: "agent",
  agent: "claude",
  cwd: "/home/dev/shop",
  startedAt: at(500),
  status: "idle",
  owner: ourIdentity(),
  ...more,
});
const asked = (pid: number, more: object = {}) => ({
  agent: "claude",
  sessionId: "s1",
  cwd: "/home/dev/shop",
  pid,
  ...more,
});
const refused = (kind: FailureKind, text: RegExp) => (error: unknown) =>
  error instanceof Failure && error.kind === kind && text.test(error.message);

test("a session that its store proves to be live is named by its agent and folder, with what is known of it", async (t) => {
  const { registry, claude, titles } = homeFor(t);
  titles.set("claude/s1", "Mend the till");
  claude.proofs = [proof("s1", { activity: "busy" })];
  assert.deepEqual(await registry.list(), [
    {
      name: "claude-shop",
      agent: "claude",
      sessionId: "s1",
      cwd: "/home/dev/shop",
      pid: process.pid,
      startedAt: 1_000,
      activity: "busy",
      title: "Mend the till",
    },
  ]);
});

test("of two in one folder the first to start has the plain name, and each keeps its own while it lives", async (t) => {
  const { claude, names, time } = homeFor(t);
  const [a, b, c] = [await liveProcess(t), await liveProcess(t), await liveProcess(t)];
  claude.proofs = [proof("late", { pid: b.pid, startedAt: at(2_000) }), proof("early", { pid: a.pid })];
  assert.deepEqual(await names(), ["claude-shop", "claude-shop-2"]);
  claude.proofs = claude.proofs.slice(0, 1);
  time.pass(1_000);
  assert.deepEqual(await names(), ["claude-shop-2"]);
  claude.proofs = [...claude.proofs, proof("new", { pid: c.pid, startedAt: at(3_000) })];
  time.pass(1_000);
  assert.deepEqual(await names(), ["claude-shop", "claude-shop-2"]);
});

test("a folder's name is made a legal one", async (t) => {
  const { claude, names } = homeFor(t);
  const [a, b, c, d] = [await liveProcess(t), await liveProcess(t), await liveProcess(t), await liveProcess(t)];
  claude.proofs = [
    proof("a", { pid: a.pid, cwd: "/w/a\u0007\nb\ud800 ä" }),
    proof("b", { pid: b.pid, cwd: "/" }),
    proof("c", { pid: c.pid, cwd: `/w/${"😀".repeat(100)}` }),
    proof("d", { pid: d.pid, cwd: `/w/${"😀".repeat(100)}`, startedAt: at(2_000) }),
  ];
  const all = await names();
  const long = `claude-${"😀".repeat(56)}…`;
  assert.deepEqual(all, ["claude", "claude-ab ä", long, `${long}-2`]);
});

test("a session of ours is a peer under its name, and once, also when its store proves it live", async (t) => {
  const { registry, claude, save, names } = homeFor(t);
  claude.proofs = [proof("native", { activity: "busy" })];
  save({
    sessions: [
      ours("sess_1", { name: "till", nativeSessionId: "native", child: { pid: 1 }, status: "busy" }),
      ours("sess_2", { agent: "gemini", startedAt: at(600) }),
      ours("sess_3", { endedAt: at(9), status: "ended" }),
      ours("sess_4", { kind: "terminal", name: "shell" }),
      ours("sess_5", { name: "gone", owner: { ...ourIdentity(), start: "1" } }),
    ],
  });
  assert.deepEqual(await names(), ["gemini-shop", "till"]);
  const found = await registry.find("till");
  assert.deepEqual(
    [found?.origin, found?.ownId, found?.peer.sessionId, found?.peer.activity],
    ["own", "sess_1", "native", "busy"],
  );
  assert.equal((await registry.find("gemini-shop"))?.peer.sessionId, null);
});

test("a session joins under the name that it asks for, and is a peer after a restart of the server too", async (t) => {
  const { registry, restarted, saved } = homeFor(t);
  const cli = await liveProcess(t);
  const peer = await registry.join(asked(cli.pid, { name: "front", start: cli.identity.start }));
  assert.deepEqual([peer.name, peer.pid, peer.sessionId], ["front", cli.pid, "s1"]);
  assert.deepEqual(saved().peers[0]?.process, cli.identity);
  assert.deepEqual(await restarted().list(), [peer]);
});

test("without a name it keeps the one it had, else one is made", async (t) => {
  const { registry, claude, names } = homeFor(t);
  const [first, second] = [await liveProcess(t), await liveProcess(t)];
  claude.proofs = [proof("s1", { pid: first.pid }), proof("s2", { pid: second.pid, startedAt: at(2_000) })];
  assert.deepEqual(await names(), ["claude-shop", "claude-shop-2"]);
  assert.equal((await registry.join(asked(second.pid, { sessionId: "s2" }))).name, "claude-shop-2");
  assert.equal((await registry.join(asked(first.pid, { name: "front" }))).name, "front");
  assert.equal((await registry.join(asked(first.pid))).name, "front");
  assert.deepEqual(await names(), ["claude-shop-2", "front"]);
});

test("a session that joins again is renamed, and its old name is free", async (t) => {
  const { registry, names, saved } = homeFor(t);
  const [first, second] = [await liveProcess(t), await liveProcess(t)];
  await registry.join(asked(first.pid, { name: "a" }));
  await registry.join(asked(first.pid, { name: "b" }));
  await registry.join(asked(second.pid, { name: "a", sessionId: "s2" }));
  assert.deepEqual(await names(), ["a", "b"]);
  assert.equal(saved().peers.length, 2);
});

test("a name that another live session has is refused, whether that joined, is proven or ours", async (t) => {
  const { registry, claude, codex, save } = homeFor(t);
  const [first, second, third] = [await liveProcess(t), await liveProcess(t), await liveProcess(t)];
  save({ sessions: [ours("sess_1", { name: "till", agent: "gemini" })] });
  codex.proofs = [proof("thread", { pid: third.pid })];
  claude.proofs = [];
  await registry.join(asked(first.pid, { name: "a" }));
  for (const name of ["a", "till", "codex-shop"]) {
    const join = registry.join(asked(second.pid, { name, sessionId: "s2" }));
    await assert.rejects(join, refused("conflict", /another live session is named/), name);
  }
});

test("a name is free again once the process of who had it has ended, and the file is tidied", async (t) => {
  const { registry, names, saved } = homeFor(t);
  const [first, second] = [await liveProcess(t), await liveProcess(t)];
  await registry.join(asked(first.pid, { name: "a" }));
  await registry.join(asked(first.pid, { name: "b", agent: "codex", sessionId: "s3" }));
  await first.end();
  assert.deepEqual(await names(), []);
  await registry.join(asked(second.pid, { name: "a", sessionId: "s2" }));
  assert.deepEqual(await names(), ["a"]);
  while (saved().peers.length > 1) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual(
    saved().peers.map(({ name, process }) => [name, process.pid]),
    [["a", second.pid]],
  );
});

test("a process that is not there, or began at another time, can't join", async (t) => {
  const { registry } = homeFor(t);
  const cli = await liveProcess(t);
  await assert.rejects(registry.join(asked(cli.pid, { start: "1" })), refused("conflict", /began then/));
  await cli.end();
  await assert.rejects(registry.join(asked(cli.pid)), refused("conflict", /no process/));
});

test("a process that is no program of the user's can't join: the server itself, that of number 1, the kernel's threads", async (t) => {
  const { registry, saved } = homeFor(t);
  const listed = process.platform === "linux" ? readdirSync("/proc", { encoding: "utf8" }) : [];
  const kernel = listed.filter((name) => isKernelThread(name));
  for (const pid of [process.pid, 1, ...kernel.slice(0, 2).map(Number)]) {
    await assert.rejects(registry.join(asked(pid)), refused("conflict", /no agent's program of yours/), String(pid));
  }
  const cli = await liveProcess(t);
  await registry.join(asked(cli.pid));
  assert.equal(saved().peers.length, 1);
});

test("a number that another process has got since is no proof", async (t) => {
  const { save, names } = homeFor(t);
  const cli = await liveProcess(t);
  const peer = { agent: "claude", sessionId: null, cwd: "/w", joinedAt: at(1) };
  save({
    peers: [
      { ...peer, name: "right", process: cli.identity },
      { ...peer, name: "reused", process: { ...cli.identity, start: "1" } },
      { ...peer, name: "rebooted", process: { ...cli.identity, boot: "another" } },
    ],
  });
  assert.deepEqual(await names(), ["right"]);
});

test("a joined session that its store proves live appears once, with what the store says of it", async (t) => {
  const { registry, claude } = homeFor(t);
  const cli = await liveProcess(t);
  await registry.join(asked(cli.pid, { name: "front", sessionId: null }));
  claude.proofs = [proof("s1", { pid: cli.pid, activity: "idle" })];
  await registry.join(asked(cli.pid));
  const peers = await registry.list();
  assert.deepEqual(
    peers.map(({ name, sessionId, activity }) => [name, sessionId, activity]),
    [["front", "s1", "idle"]],
  );
});

test("Claude Code's session that was cleared is the same peer under its new id; threads of one Codex server are several", async (t) => {
  const { registry, claude, codex, time } = homeFor(t);
  const [cli, server] = [await liveProcess(t), await liveProcess(t)];
  claude.proofs = [proof("before", { pid: cli.pid })];
  await registry.join(asked(cli.pid, { name: "front", sessionId: "before" }));
  claude.proofs = [proof("after", { pid: cli.pid })];
  codex.proofs = [proof("t1", { pid: server.pid }), proof("t2", { pid: server.pid, startedAt: at(2_000) })];
  await registry.join(asked(server.pid, { agent: "codex", sessionId: "t1", name: "one" }));
  time.pass(1_000);
  const shown = (await registry.list()).map(({ name, sessionId }) => `${name} ${sessionId}`).sort();
  assert.deepEqual(shown, ["codex-shop-2 t2", "front after", "one t1"]);
});

test("a session of ours that joins has its name already", async (t) => {
  const { registry, save } = homeFor(t);
  save({ sessions: [ours("sess_1", { name: "till", nativeSessionId: "native" })] });
  const join = (more: object): Promise<Peer> => registry.join(asked(process.pid, { sessionId: "native", ...more }));
  assert.equal((await join({})).name, "till");
  await assert.rejects(join({ name: "other" }), refused("conflict", /under the name "till"/));
});

test("only a session that joined can leave", async (t) => {
  const { registry, claude, save, names } = homeFor(t);
  const [cli, proven] = [await liveProcess(t), await liveProcess(t)];
  save({ sessions: [ours("sess_1", { name: "till" })] });
  claude.proofs = [proof("s2", { pid: proven.pid })];
  await registry.join(asked(cli.pid, { name: "front" }));
  await assert.rejects(registry.leave("nobody"), refused("not-found", /no peer/));
  await assert.rejects(registry.leave("till"), refused("conflict", /stop it instead/));
  await assert.rejects(registry.leave("claude-shop"), refused("conflict", /has not joined/));
  await registry.leave("front");
  assert.deepEqual(await names(), ["claude-shop", "till"]);
});

test("twenty that join at once all have names of their own", async (t) => {
  const { registry, restarted, names } = homeFor(t);
  const clis = await Promise.all(Array.from({ length: 20 }, () => liveProcess(t)));
  await Promise.all(clis.map(({ pid }, i) => registry.join(asked(pid, { sessionId: `s${i}` }))));
  const all = await names();
  assert.equal(new Set(all).size, 20);
  assert.deepEqual(all, ["claude-shop", ...Array.from({ length: 19 }, (_, i) => `claude-shop-${i + 2}`)].sort());
  assert.deepEqual((await restarted().list()).map(({ name }) => name).sort(), all);
});

test("of twenty that want one name at once, one gets it", async (t) => {
  const { registry } = homeFor(t);
  const clis = await Promise.all(Array.from({ length: 20 }, () => liveProcess(t)));
  const joins = clis.map(({ pid }, i) => registry.join(asked(pid, { sessionId: `s${i}`, name: "front" })));
  const results = await Promise.allSettled(joins);
  assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
});

test("asking again within a second asks no store, and gives the very same list", async (t) => {
  const { registry, claude, time } = homeFor(t);
  claude.proofs = [proof("s1")];
  const first = await registry.list();
  time.pass(900);
  assert.equal(await registry.list(), first);
  assert.equal(claude.asked, 1);
  time.pass(100);
  assert.equal(await registry.list(), first);
  assert.deepEqual([claude.asked, registry.generation], [2, 1]);
});

test("a title that becomes known is there at once", async (t) => {
  const { registry, claude, titles } = homeFor(t);
  claude.proofs = [proof("s1")];
  const titlesNow = async () => (await registry.list()).map(({ title }) => title);
  assert.deepEqual(await titlesNow(), [undefined]);
  titles.set("claude/s1", "");
  assert.deepEqual(await titlesNow(), [undefined]);
  titles.set("claude/s1", "Mend the till");
  assert.deepEqual(await titlesNow(), ["Mend the till"]);
});

test("whoever listens is told when someone joins, leaves, or dies, and when another process writes the file", async (t) => {
  const { registry, restarted } = homeFor(t);
  const end = new AbortController();
  t.after(() => end.abort());
  const changes = registry.changes(end.signal)[Symbol.asyncIterator]();
  const cli = await liveProcess(t);
  await registry.join(asked(cli.pid, { name: "front" }));
  await nextOf(changes);
  await restarted().join(asked(cli.pid, { name: "renamed" }));
  await nextOf(changes);
  assert.deepEqual(
    (await registry.list()).map(({ name }) => name),
    ["renamed"],
  );
  await cli.end();
  await nextOf(changes);
  assert.deepEqual(await registry.list(), []);
  end.abort();
  assert.equal((await changes.next()).done, true);
});

test("a store that can't be asked, and a damaged file, hide none of the others; joining says what is wrong", async (t) => {
  const { registry, claude, codex, bridgeHome, names } = homeFor(t);
  mkdirSync(bridgeHome, { mode: 0o700 });
  writeFileSync(join(bridgeHome, "sessions.json"), "{");
  claude.proofs = [proof("s1")];
  codex.live = () => Promise.reject(new Error("locked"));
  assert.deepEqual(await names(), ["claude-shop"]);
  const cli = await liveProcess(t);
  await assert.rejects(registry.join(asked(cli.pid, { sessionId: "s2" })), refused("failed", /damaged/));
});

function isKernelThread(pid: string): boolean {
  if (!/^[1-9]\d*$/.test(pid)) return false;
  try {
    return /^Kthread:\s+1$/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
