import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { test } from "node:test";
import { createWatcher, type Watcher } from "../../../src/platform/watch.ts";
import { merge } from "../../../src/stores/codex/merge.ts";
import type { Change } from "../../../src/stores/store.ts";
import { START } from "../../../src/transcript/cursor.ts";
import { agentEvent, BUDGET, found, Home, linesOf, meta, NINE, userEvent, uuid } from "./home.ts";

/** A watcher whose changes the test makes. */
class ToldWatcher implements Watcher {
  readonly #waiting = new Map<string, ((name: string | undefined) => void)[]>();

  /** The paths that are watched now. */
  get watched(): string[] {
    return [...this.#waiting]
      .filter(([, waiting]) => waiting.length > 0)
      .map(([path]) => path)
      .sort();
  }

  tell(path: string, name?: string): void {
    for (const wake of this.#waiting.get(path)?.splice(0) ?? []) wake(name);
  }

  async *file(path: string, signal: AbortSignal): AsyncGenerator<void> {
    for await (const _ of this.folder(path, signal)) yield;
  }

  async *folder(path: string, signal: AbortSignal): AsyncGenerator<string | undefined> {
    while (!signal.aborted) {
      const told = await new Promise<{ name: string | undefined } | undefined>((resolve) => {
        const wake = (name: string | undefined): void => resolve({ name });
        this.#waiting.set(path, [...(this.#waiting.get(path) ?? []), wake]);
        const leave = (): void => {
          this.#waiting.set(path, this.#waiting.get(path)?.filter((other) => other !== wake) ?? []);
          resolve(undefined);
        };
        if (signal.aborted) leave();
        else signal.addEventListener("abort", leave, { once: true });
      });
      if (told === undefined) return;
      yield told.name;
    }
  }
}

const ID = uuid(NINE);

/** Waits until something that no event tells has come about. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(setImmediate);
}

test("a chat is told of when its file grows, and of its new segment", async (t) => {
  const home = new Home(t);
  const path = home.rollout(ID, [meta(ID), userEvent(1, "hi")]);
  const watcher = new ToldWatcher();
  const store = home.store({ watcher });
  const ref = await found(store, ID);
  const leaving = new AbortController();
  const changes = store.watch(ref, leaving.signal)[Symbol.asyncIterator]();
  const first = changes.next();
  await until(() => watcher.watched.includes(path));
  const page = await store.entries(ref, START, BUDGET);
  appendFileSync(path, linesOf([agentEvent(2, "hello")]));
  watcher.tell(path);
  await first;
  assert.equal((await store.entries(ref, page.next, BUDGET)).entries.length, 1);

  const newer = home.rollout(ID, [meta(ID), userEvent(1, "anew")], { segment: uuid(NINE + 1000), time: "09-00-01" });
  watcher.tell(dirname(newer), basename(newer));
  // It is told of the change, and once more when the new file is followed; then all is quiet.
  let next = changes.next();
  let told = 0;
  const count = (): void => {
    told++;
    next = changes.next();
    next.then(({ done }) => done || count());
  };
  next.then(count);
  await until(() => watcher.watched.includes(newer) && !watcher.watched.includes(path));
  assert.ok(told >= 1);
  assert.equal((await store.entries(ref, page.next, BUDGET)).reset, true);
  leaving.abort();
  await until(() => watcher.watched.length === 0);
});

test("what is appended is told by the system's own watching, from the first reading on", async (t) => {
  const home = new Home(t);
  const path = home.rollout(ID, [meta(ID), userEvent(1, "hi")]);
  const store = home.store({ watcher: createWatcher() });
  const ref = await found(store, ID);
  // Watching does not keep a process alive.
  const alive = setInterval(() => undefined, 1000);
  t.after(() => clearInterval(alive));
  const leaving = new AbortController();
  const changes = store.watch(ref, leaving.signal)[Symbol.asyncIterator]();
  await changes.next();
  let { next } = await store.entries(ref, START, BUDGET);
  for (let n = 0; n < 3; n++) {
    appendFileSync(path, linesOf([agentEvent(2 + n, `answer ${n}`)]));
    for (
      let page = await store.entries(ref, next, BUDGET);
      page.next === next;
      page = await store.entries(ref, next, BUDGET)
    ) {
      await changes.next();
    }
    const page = await store.entries(ref, next, BUDGET);
    assert.equal(page.entries.length, 1);
    next = page.next;
    await changes.next();
  }
  leaving.abort();
  for (let end = await changes.next(); end.done !== true; end = await changes.next());
});

test("the store tells which thread changed, and follows into a new day", async (t) => {
  const home = new Home(t);
  const path = home.rollout(ID, [meta(ID), userEvent(1, "hi")]);
  const watcher = new ToldWatcher();
  const store = home.store({ watcher });
  const leaving = new AbortController();
  const told: Change[] = [];
  const done = (async () => {
    for await (const change of store.changes(leaving.signal)) told.push(change);
  })();
  const day = path.slice(0, path.lastIndexOf("/"));
  const month = day.slice(0, day.lastIndexOf("/"));
  await until(() => watcher.watched.includes(day));
  watcher.tell(day, path.slice(path.lastIndexOf("/") + 1));
  await until(() => told.length === 1);
  assert.deepEqual(told, [{ id: ID }]);
  const other = uuid(NINE + 86_400_000);
  home.rollout(other, [meta(other)], { day: "2026/12/01" });
  await until(() => watcher.watched.includes(month));
  watcher.tell(`${home.path}/sessions/2026`, "12");
  await until(() => watcher.watched.includes(`${home.path}/sessions/2026/12/01`));
  assert.deepEqual(told, [{ id: ID }, {}]);
  leaving.abort();
  await done;
});

test("merged sources end together, and leaving one leaves all", async () => {
  const left: string[] = [];
  async function* source(name: string, values: readonly number[]): AsyncGenerator<string> {
    try {
      for (const value of values) yield `${name}${value}`;
    } finally {
      left.push(name);
    }
  }
  const all: string[] = [];
  for await (const value of merge([source("a", [1, 2]), source("b", [1])])) all.push(value);
  assert.deepEqual(all.sort(), ["a1", "a2", "b1"]);
  for await (const _ of merge([source("c", [1, 2, 3]), source("d", [1, 2, 3])])) break;
  await until(() => left.length === 4);
  assert.deepEqual(left.slice(2).sort(), ["c", "d"]);
});
