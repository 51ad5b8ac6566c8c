import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Failure } from "../../src/platform/failure.ts";
import type { ListChange } from "../../src/stores/change-log.ts";
import { Inventory } from "../../src/stores/inventory.ts";
import { SWEEP_MS } from "../../src/stores/lookout.ts";
import type { Listed } from "../../src/stores/store.ts";
import { at, FakeStore, row, sid } from "../support/fake-store.ts";
import { FakeTime } from "../support/fake-time.ts";
import { nextOf, turns, until } from "../support/turns.ts";

function setUp(t: TestContext, ...stores: FakeStore[]): { inventory: Inventory; time: FakeTime; end: AbortSignal } {
  const time = new FakeTime();
  const inventory = new Inventory({ stores, clock: time, timer: time, home: "/home/someone" });
  const end = new AbortController();
  t.after(async () => {
    end.abort();
    await inventory.close();
    for (const store of stores) store.remove();
  });
  return { inventory, time, end: end.signal };
}

const ids = (rows: readonly Listed[]): string[] => rows.map(({ id }) => id);

test("sessions of all stores stand in one list: last updated first, then by agent, then by id", async (t) => {
  const [claude, codex] = [new FakeStore("claude"), new FakeStore("codex")];
  claude.rows = [row({ id: sid("b"), updatedAt: at(5) }), row({ id: sid("a"), updatedAt: at(5) })];
  codex.rows = [
    row({ id: sid("d"), agent: "codex", updatedAt: at(9) }),
    row({ id: sid("A"), agent: "codex", updatedAt: at(5) }),
    row({ id: sid("c"), agent: "codex", updatedAt: at(1) }),
  ];
  const { inventory } = setUp(t, codex, claude);
  await inventory.settled();
  const { transcripts, total, next } = await inventory.query({});
  assert.deepEqual(ids(transcripts), ["d", "a", "b", "A", "c"]);
  assert.deepEqual([total, next], [5, null]);
});

test("a store that fails is named, what it listed before and the others are still shown", async (t) => {
  const [claude, codex] = [new FakeStore("claude"), new FakeStore("codex")];
  claude.rows = [row({ id: sid("a") })];
  const { inventory } = setUp(t, claude, codex);
  await inventory.settled();
  claude.broken = new Error("EACCES /secret/path");
  codex.rows = [row({ id: sid("b"), agent: "codex" })];
  await inventory.settled();
  assert.deepEqual(ids((await inventory.query({})).transcripts), ["a", "b"]);
  assert.deepEqual(await inventory.standings(), [
    { agent: "claude", sessions: 1, problem: "its sessions could not be listed" },
    { agent: "codex", sessions: 1 },
  ]);
  claude.broken = new Failure("failed", "the folder can't be read");
  await inventory.settled();
  assert.equal((await inventory.standings())[0]?.problem, "the folder can't be read");
  claude.broken = undefined;
  await inventory.settled();
  assert.deepEqual((await inventory.standings())[0], { agent: "claude", sessions: 1 });
});

test("the generation grows when a row is added, shown differently or removed, and at no other time", async (t) => {
  const store = new FakeStore();
  const { inventory } = setUp(t, store);
  const generations: number[] = [];
  const look = async (rows: Listed[]): Promise<void> => {
    store.rows = rows;
    await inventory.settled();
    generations.push(inventory.generation);
  };
  await look([]);
  await look([row({ id: sid("a") })]);
  await look([row({ id: sid("a") })]);
  await look([row({ id: sid("a"), live: { pid: 7 } })]);
  await look([row({ id: sid("a"), live: { pid: 7 } })]);
  await look([row({ id: sid("a"), live: { pid: 7, activity: "busy" } })]);
  await look([]);
  assert.deepEqual(generations, [0, 1, 1, 2, 2, 3, 4]);
});

test("a row can't be changed by who reads it, nor by its store, and holds nothing but what is to be shown", async (t) => {
  const store = new FakeStore();
  const given = { ...row({ id: sid("a"), resume: { command: ["claude"], cwd: "/w" } }), secretPlace: "/x" };
  store.rows = [given];
  const { inventory } = setUp(t, store);
  await inventory.settled();
  const [shown] = (await inventory.query({})).transcripts;
  for (const part of [shown, shown?.resume, shown?.resume?.command]) {
    assert.throws(() => Object.assign(part ?? {}, { 0: "changed", title: "changed", cwd: "changed" }), TypeError);
  }
  Object.assign(given, { title: "changed" });
  assert.deepEqual(inventory.row("claude", sid("a")), {
    agent: "claude",
    id: "a",
    title: "Title of a",
    cwd: "/w",
    startedAt: 1,
    updatedAt: 1,
    resume: { command: ["claude"], cwd: "/w" },
  });
});

test("of two rows with one id the newer is shown", async (t) => {
  const store = new FakeStore();
  store.rows = [1, 3, 2].map((ms) => row({ id: sid("a"), updatedAt: at(ms) }));
  const { inventory } = setUp(t, store);
  await inventory.settled();
  const { transcripts } = await inventory.query({});
  assert.deepEqual(
    transcripts.map(({ updatedAt }) => updatedAt),
    [3],
  );
});

test("who asks while a look is in hand shares one further look, which sees what was there when they asked", async (t) => {
  const store = new FakeStore();
  const { inventory } = setUp(t, store);
  let open = (): void => {};
  store.gate = new Promise((resolve) => {
    open = resolve;
  });
  const first = inventory.settled();
  await until(() => store.looks.length === 1);
  store.say("late", "hello");
  const later = Array.from({ length: 100 }, () => inventory.settled());
  await turns();
  assert.equal(store.looks.length, 1);
  open();
  await Promise.all([first, ...later]);
  assert.equal(store.looks.length, 2);
  assert.deepEqual(ids((await inventory.query({})).transcripts), ["late"]);
});

test("without being started every look asks every file, and nothing is watched", async (t) => {
  const store = new FakeStore();
  const { inventory, time } = setUp(t, store);
  await inventory.settled();
  await inventory.settled();
  assert.deepEqual(store.looks, ["sweep", "sweep"]);
  assert.deepEqual([store.listeners, time.pending], [0, 0]);
});

test("once started it sweeps first and every ten seconds, looks when told, and trusts what it is told in between", async (t) => {
  const store = new FakeStore();
  const { inventory, time, end } = setUp(t, store);
  inventory.start();
  await until(() => store.looks.length === 1 && store.listeners === 1);
  const changes = inventory.changes(end)[Symbol.asyncIterator]();
  store.say("a", "hello");
  assert.deepEqual(await nextOf(changes), { generation: 1, ids: ["a"] });
  await inventory.settled();
  assert.deepEqual(store.looks, ["sweep", "quick", "quick"]);
  time.pass(SWEEP_MS);
  await until(() => store.looks.length === 4);
  assert.deepEqual(store.looks.slice(3), ["sweep"]);
});

test("a store that changes all the time is looked at ten times a second, not more", async (t) => {
  const store = new FakeStore();
  const { inventory, time } = setUp(t, store);
  inventory.start();
  await until(() => store.looks.length === 1 && store.listeners === 1);
  for (let i = 0; i < 50; i++) {
    store.say("a", "more");
    await turns(3);
  }
  assert.equal(store.looks.length, 2);
  time.pass(100);
  await turns();
  assert.equal(store.looks.length, 3);
  time.pass(100);
  await turns();
  assert.equal(store.looks.length, 3);
});

test("a store that can't tell what changes is swept whenever somebody asks", async (t) => {
  const store = new FakeStore();
  store.changes = () => {
    throw new Error("no watching here");
  };
  const { inventory } = setUp(t, store);
  inventory.start();
  await until(() => store.looks.length === 1);
  await inventory.settled();
  assert.deepEqual(store.looks, ["sweep", "sweep"]);
});

test("closing ends watching and sweeping", async (t) => {
  const store = new FakeStore();
  const { inventory, time } = setUp(t, store);
  inventory.start();
  await until(() => store.listeners === 1);
  await inventory.close();
  assert.deepEqual([store.listeners, time.pending], [0, 0]);
});

test("a reader of changes that is slow gets all of them as one", async (t) => {
  const store = new FakeStore();
  const { inventory, end } = setUp(t, store);
  const changes = inventory.changes(end)[Symbol.asyncIterator]();
  for (const id of ["a", "b", "c", "a"]) {
    store.say(id, "x");
    await inventory.settled();
  }
  assert.deepEqual(await nextOf(changes), { generation: 4, ids: ["a", "c", "b"] });
  store.rows = Array.from({ length: 250 }, (_, i) => row({ id: sid(`n${i}`), updatedAt: at(1_000 + i) }));
  await inventory.settled();
  const change: ListChange = await nextOf(changes);
  assert.deepEqual([change.generation, change.ids.length, change.ids[0], change.more], [5, 100, "n249", true]);
});

test("a reader that fell far behind is told that there is more than it is told", async (t) => {
  const store = new FakeStore();
  const { inventory, end } = setUp(t, store);
  const changes = inventory.changes(end)[Symbol.asyncIterator]();
  for (let i = 0; i < 80; i++) {
    store.rows = [row({ id: sid("a"), updatedAt: at(i) })];
    await inventory.settled();
  }
  assert.deepEqual(await nextOf(changes), { generation: 80, ids: ["a"], more: true });
});

test("a list holds only what was asked for", async (t) => {
  const [claude, codex] = [new FakeStore("claude"), new FakeStore("codex")];
  claude.rows = [
    row({ id: sid("fix"), title: "Fix the PARSER", cwd: "/w/one" }),
    row({ id: sid("live"), cwd: "/w/one/below", live: { pid: 1 } }),
    row({ id: sid("other"), cwd: "/w/one-more" }),
    row({ id: sid("child"), cwd: "/w/one", parent: sid("fix") }),
  ];
  codex.rows = [row({ id: sid("cx"), agent: "codex", cwd: "/Parser/x" })];
  const { inventory } = setUp(t, claude, codex);
  await inventory.settled();
  const asked = async (query: Parameters<Inventory["query"]>[0]): Promise<string[]> => {
    const { transcripts, total } = await inventory.query(query);
    assert.equal(total, transcripts.length);
    return ids(transcripts);
  };
  assert.deepEqual(await asked({}), ["fix", "live", "other", "cx"]);
  assert.deepEqual(await asked({ agent: "codex" }), ["cx"]);
  assert.deepEqual(await asked({ q: "parser" }), ["fix", "cx"]);
  assert.deepEqual(await asked({ state: "live" }), ["live"]);
  assert.deepEqual(await asked({ state: "ended", agent: "claude" }), ["fix", "other"]);
  assert.deepEqual(await asked({ children: true, agent: "claude" }), ["child", "fix", "live", "other"]);
  assert.deepEqual(await asked({ project: "/w/one" }), ["fix", "live"]);
  assert.deepEqual(await asked({ project: "/w/one/" }), ["fix", "live"]);
  assert.deepEqual(await asked({ project: "/" }), ["fix", "live", "other", "cx"]);
  assert.deepEqual(await asked({ agent: "hermes" }), []);
});

test("a folder in a git working tree stands for the whole tree, also by another name", async (t) => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "agent-bridge-git-")));
  t.after(() => rmSync(base, { recursive: true }));
  mkdirSync(join(base, "repo", ".git"), { recursive: true });
  mkdirSync(join(base, "repo", "packages", "a"), { recursive: true });
  mkdirSync(join(base, "plain"));
  symlinkSync(join(base, "repo"), join(base, "link"));
  const store = new FakeStore();
  store.rows = [
    row({ id: sid("root"), cwd: join(base, "repo") }),
    row({ id: sid("b"), cwd: join(base, "repo", "packages", "b") }),
    row({ id: sid("plain"), cwd: join(base, "plain") }),
  ];
  const { inventory } = setUp(t, store);
  await inventory.settled();
  for (const project of ["repo/packages/a", "repo", "link", "link/packages/a"]) {
    const { transcripts } = await inventory.query({ project: join(base, project) });
    assert.deepEqual(ids(transcripts), ["b", "root"], project);
  }
  assert.deepEqual(ids((await inventory.query({ project: join(base, "plain") })).transcripts), ["plain"]);
});
