import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Timer } from "../../../src/platform/timer.ts";
import { createWatcher, type Watcher } from "../../../src/platform/watch.ts";
import { Mailbox } from "../../../src/stores/claude/mailbox.ts";
import type { ClaudeStore, ClaudeStoreParts } from "../../../src/stores/claude/store.ts";
import type { Change, SessionRef } from "../../../src/stores/store.ts";
import { START } from "../../../src/transcript/cursor.ts";
import { type ClaudeHome, claudeHome, prompt, sessionId } from "./claude-home.ts";
import { freshChats, PAGE } from "./fixtures.ts";

const id = sessionId(1);
const file = `${id}.jsonl`;

/** A watcher that tells what the test tells it. */
class ToldWatcher implements Watcher {
  readonly #boxes = new Map<string, Mailbox<string | undefined>>();
  #told = 0;

  file(path: string, signal: AbortSignal): AsyncIterable<void> {
    const told = this.folder(path, signal);
    return (async function* () {
      yield;
      for await (const _ of told) yield;
    })();
  }

  folder(path: string, signal: AbortSignal): AsyncIterable<string | undefined> {
    const box = new Mailbox<string | undefined>();
    this.#boxes.set(path, box);
    signal.addEventListener("abort", () => {
      if (this.#boxes.get(path) === box) this.#boxes.delete(path);
    });
    return box.take(signal);
  }

  get watched(): string[] {
    return [...this.#boxes.keys()].sort();
  }

  tell(path: string, name?: string): void {
    const box = this.#boxes.get(path);
    assert.ok(box, `${path} is not watched`);
    box.put(String(this.#told++), name);
  }

  fail(path: string): void {
    this.#boxes.get(path)?.fail(new Error("the watch broke"));
  }
}

/** Keeps the process waiting: watching alone does not. */
function stayAlive(t: TestContext): void {
  const timer = setInterval(() => {}, 1_000);
  t.after(() => clearInterval(timer));
}

/** The changes of a store, one at a time. */
async function changesOf(t: TestContext, store: ClaudeStore) {
  await store.list("sweep");
  const ended = new AbortController();
  t.after(() => ended.abort());
  const changes = store.changes(ended.signal)[Symbol.asyncIterator]();
  const next = async (): Promise<Change | undefined> => (await changes.next()).value;
  assert.deepEqual(await next(), {});
  return { next, end: () => ended.abort(), changes };
}

function setUp(t: TestContext) {
  const home = claudeHome(t);
  home.write("p", file, [prompt("a")]);
  const watcher = new ToldWatcher();
  return { home, watcher, store: home.store({ watcher }), folder: join(home.projects, "p") };
}

test("a transcript that grew is told by its id, and so is one whose agents came", async (t) => {
  const { watcher, store, folder } = setUp(t);
  const { next } = await changesOf(t, store);
  watcher.tell(folder, file);
  assert.deepEqual(await next(), { id });
  watcher.tell(folder, id);
  assert.deepEqual(await next(), { id });
});

test("a session that is new is told as such, and a change without a name as any", async (t) => {
  const { watcher, store, folder } = setUp(t);
  const { next } = await changesOf(t, store);
  watcher.tell(folder, `${sessionId(2)}.jsonl`);
  assert.deepEqual([await next(), await next()], [{}, { id: sessionId(2) }]);
  watcher.tell(folder, "memory");
  watcher.tell(folder);
  assert.deepEqual(await next(), {});
});

test("a new project folder is watched from then on, and told once it is", async (t) => {
  const { home, watcher, store } = setUp(t);
  const { next } = await changesOf(t, store);
  home.write("q", `${sessionId(2)}.jsonl`, [prompt("b")]);
  watcher.tell(home.projects, "q");
  assert.deepEqual(await next(), {});
  assert.deepEqual(await next(), {});
  watcher.tell(join(home.projects, "q"), `${sessionId(2)}.jsonl`);
  assert.deepEqual(await next(), { id: sessionId(2) });
  rmSync(join(home.projects, "q"), { recursive: true });
  await store.list("sweep");
  assert.deepEqual(
    watcher.watched,
    [home.projects, join(home.projects, "p"), join(home.home, ".claude", "sessions")].sort(),
  );
});

test("who comes, goes, or does something else is told by the session's id", async (t) => {
  const { home, watcher, store } = setUp(t);
  const sessions = join(home.home, ".claude", "sessions");
  mkdirSync(sessions);
  const { next } = await changesOf(t, store);
  const register = (status: string): void =>
    writeFileSync(
      join(sessions, "944.json"),
      JSON.stringify({ pid: 944, sessionId: id, status, pad: status.repeat(2) }),
    );
  register("busy");
  watcher.tell(sessions, "944.json");
  assert.deepEqual(await next(), { id });
  watcher.tell(sessions, "944.json");
  register("waiting");
  watcher.tell(sessions, "944.json");
  assert.deepEqual(await next(), { id });
  rmSync(join(sessions, "944.json"));
  watcher.tell(sessions, "944.json");
  assert.deepEqual(await next(), { id });
});

test("a watch that breaks ends the changes with its error, and the signal ends them without", async (t) => {
  const { home, watcher, store } = setUp(t);
  const first = await changesOf(t, store);
  const waiting = first.next();
  first.end();
  assert.equal(await waiting, undefined);
  const second = await changesOf(t, store);
  watcher.fail(home.projects);
  await assert.rejects(second.next(), { message: "the watch broke" });
  assert.deepEqual(watcher.watched, []);
});

/** The watch of one chat, with a clock that the test moves. */
async function watchOf(t: TestContext, home: ClaudeHome, child = false, chats?: ClaudeStoreParts["chats"]) {
  const watcher = new ToldWatcher();
  let settle = (): void => {};
  const timer: Timer = {
    after(_ms, task) {
      settle = task;
      return () => {};
    },
  };
  const store = home.store({ watcher, timer, ...(chats && { chats }) });
  const found = await store.find(id);
  assert.ok(found);
  const ref: SessionRef = child ? { ...found, child: sessionId(7) } : found;
  const ended = new AbortController();
  t.after(() => ended.abort());
  const wakes = store.watch(ref, ended.signal)[Symbol.asyncIterator]();
  assert.equal((await wakes.next()).done, false);
  return { watcher, store, ref, wakes, settle: () => settle(), end: () => ended.abort() };
}

test("a chat wakes at once, when its transcript changes, and once more when a spawn call has settled", async (t) => {
  const { home, folder } = setUp(t);
  const { watcher, wakes, settle, end } = await watchOf(t, home);
  watcher.tell(join(folder, file));
  assert.equal((await wakes.next()).done, false);
  settle();
  assert.equal((await wakes.next()).done, false);
  const waiting = wakes.next();
  end();
  assert.equal((await waiting).done, true);
});

test("a chat wakes when its first agent comes, and for every later one", async (t) => {
  const { home, folder } = setUp(t);
  const { watcher, wakes } = await watchOf(t, home);
  assert.deepEqual(watcher.watched, [folder, join(folder, file)]);
  mkdirSync(join(folder, id));
  watcher.tell(folder, id);
  assert.equal((await wakes.next()).done, false);
  assert.deepEqual(watcher.watched, [join(folder, id), join(folder, file)].sort());
  mkdirSync(join(folder, id, "subagents"));
  watcher.tell(join(folder, id), "subagents");
  assert.equal((await wakes.next()).done, false);
  watcher.tell(join(folder, id, "subagents"), "agent-a1.jsonl");
  assert.equal((await wakes.next()).done, false);
});

test("a subagent's chat watches its own transcript alone", async (t) => {
  const { home, folder } = setUp(t);
  const { watcher } = await watchOf(t, home, true);
  assert.deepEqual(watcher.watched, [join(folder, file)]);
});

test("a session that moves is followed", async (t) => {
  const { home, folder } = setUp(t);
  const { watcher, wakes } = await watchOf(t, home);
  const moved = join(home.projects, "q", file);
  mkdirSync(join(home.projects, "q"));
  renameSync(join(folder, file), moved);
  watcher.tell(join(folder, file));
  assert.equal((await wakes.next()).done, false);
  watcher.tell(moved);
  assert.equal((await wakes.next()).done, false);
});

test("with the system's own watching, what is appended, added or made anew is told", async (t) => {
  stayAlive(t);
  const home = claudeHome(t);
  const path = home.write("p", file, [prompt("a")]);
  const store = home.store({ watcher: createWatcher() });
  const { next } = await changesOf(t, store);
  const told = async (wanted: Change): Promise<void> => {
    for (let change = await next(); change?.id !== wanted.id; change = await next()) assert.ok(change, "it ended");
  };
  home.append(path, [prompt("b")]);
  await told({ id });
  home.write("p", `${sessionId(2)}.jsonl`, [prompt("c")]);
  await told({ id: sessionId(2) });
  const third = home.write("q", `${sessionId(3)}.jsonl`, [prompt("d")]);
  await told({});
  while (!(await store.list("quick")).some((row) => row.id === sessionId(3))) await told({});
  home.append(third, [prompt("e")]);
  await told({ id: sessionId(3) });
});

test("with the system's own watching, a chat wakes for its transcript and for its first agent", async (t) => {
  stayAlive(t);
  const home = claudeHome(t);
  const path = home.write("p", file, [prompt("a")]);
  const store = home.store({ watcher: createWatcher(), timer: { after: () => () => {} } });
  const ref = await store.find(id);
  assert.ok(ref);
  const ended = new AbortController();
  t.after(() => ended.abort());
  const wakes = store.watch(ref, ended.signal)[Symbol.asyncIterator]();
  await wakes.next();
  home.append(path, [prompt("b")]);
  assert.equal((await wakes.next()).done, false);
  home.write("p", `${id}/subagents/agent-a1.jsonl`, [prompt("c")]);
  assert.equal((await wakes.next()).done, false);
});

test("a chat that is followed goes on in the copy of its transcript that was written last", async (t) => {
  const { home, folder } = setUp(t);
  const { watcher, wakes, settle, store, ref } = await watchOf(t, home, false, () => freshChats());
  const told = async () =>
    (await store.entries(ref, START, PAGE)).entries.flatMap((entry) => ("text" in entry ? [entry.text] : []));
  const wakesAt = async (path: string): Promise<void> => {
    // It wakes for other reasons, too, so that one that stays where it was does not wait for ever.
    for (let wake = 0; wake < 3 && !watcher.watched.includes(path); wake++) {
      settle();
      await wakes.next();
    }
    assert.ok(watcher.watched.includes(path));
  };
  const copy = home.write("copy", file, [prompt("a"), prompt("copied", { uuid: "u2" })], new Date(Date.now() + 10_000));
  await store.list("sweep");
  await wakesAt(copy);
  assert.ok(!watcher.watched.includes(join(folder, file)));
  assert.deepEqual(await told(), ["a", "copied"]);
  utimesSync(join(folder, file), new Date(), new Date(Date.now() + 20_000));
  await store.list("sweep");
  await wakesAt(join(folder, file));
  assert.deepEqual(await told(), ["a"]);
});

test("the first session of all is told, though there was no store when it was begun to watch", async (t) => {
  stayAlive(t);
  const home = claudeHome(t);
  rmSync(home.projects, { recursive: true, force: true });
  const store = home.store({ watcher: createWatcher({ pollMs: 5 }) });
  assert.deepEqual(await store.list("sweep"), []);
  const ended = new AbortController();
  t.after(() => ended.abort());
  const changes = store.changes(ended.signal)[Symbol.asyncIterator]();
  const told = changes.next();
  home.write("p", file, [prompt("a")]);
  await told;
  while ((await store.list("quick")).length === 0) await changes.next();
  assert.deepEqual(
    (await store.list("quick")).map((row) => row.id),
    [id],
  );
});
