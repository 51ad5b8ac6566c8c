import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Failure } from "../../src/platform/failure.ts";
import { ExportDesk } from "../../src/routes/export-desk.ts";
import type { ExportWays } from "../../src/routes/export-source.ts";
import type { Cursor } from "../../src/transcript/cursor.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { FakeStore, sid } from "../support/fake-store.ts";

const ASKED = { format: "json", source: "native", subagents: false, reasoning: false } as const;
const never = new AbortController().signal;
const turns = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

/** A desk, and the ways to a short chat. */
function deskWithChat(t: TestContext) {
  const store = new FakeStore();
  t.after(() => store.remove());
  store.totalsOf = { tokens: {} };
  store.say("a", "hello");
  const folder = join(temporaryFolder(t), "cache");
  return { desk: new ExportDesk(folder), ways: waysTo(store, "a"), store, folder };
}

function waysTo(store: FakeStore, id: string): ExportWays {
  return {
    async native() {
      const ref = await store.find(sid(id));
      if (ref === undefined) throw new Failure("not-found", "no such transcript");
      return { store, ref, source: "native" };
    },
    daemon: () => Promise.reject(new Failure("not-found", "nothing was recorded")),
    shows: async () => true,
  };
}

/** Chats that have no end until they are let go; `far` names those of which much was read. */
function endlessChats(t: TestContext) {
  const store = new FakeStore();
  t.after(() => store.remove());
  store.totalsOf = { tokens: {} };
  for (const id of ["a", "b", "c", "d", "e", "f", "g"]) store.say(id, "hello");
  const far: string[] = [];
  const read = new Map<string, number>();
  let ended = false;
  store.before = async () => ({ entries: [], next: "p:0" as Cursor, prev: null, uses: [], settled: true });
  store.entries = async ({ id }, from) => {
    const page = (read.get(id) ?? 0) + 1;
    read.set(id, page);
    if (page === 30) far.push(id);
    await new Promise(setImmediate);
    return { entries: [], next: ended ? from : (`p:${page}` as Cursor), uses: [], settled: true };
  };
  const end = (): void => {
    ended = true;
  };
  return { store, far, end };
}

test("four long chats are read at a time, the others in their order; who leaves is passed over", async (t) => {
  const { store, far, end } = endlessChats(t);
  const { desk } = deskWithChat(t);
  const left = new AbortController();
  const make = (id: string, signal = never) => desk.make(waysTo(store, id), ASKED, signal);
  const made = ["a", "b", "c", "d"].map((id) => make(id));
  await turns();
  const leaving = make("e", left.signal);
  await turns();
  made.push(make("f"), make("g"));
  await turns();
  assert.deepEqual(far.toSorted(), ["a", "b", "c", "d"]);
  left.abort(new Error("gone"));
  await assert.rejects(leaving, { message: "gone" });
  end();
  for (const { close } of await Promise.all(made)) await close();
});

test("a short chat does not wait for long ones", async (t) => {
  const { store, end } = endlessChats(t);
  const { desk, ways } = deskWithChat(t);
  const made = ["a", "b", "c", "d", "e", "f"].map((id) => desk.make(waysTo(store, id), ASKED, never));
  await turns();
  const short = await desk.make(ways, ASKED, never);
  await short.close();
  end();
  for (const { close } of await Promise.all(made)) await close();
});

test("32 exports are open at a time: the next waits until one is closed", async (t) => {
  const { desk, ways } = deskWithChat(t);
  const openOnes = [];
  for (let i = 0; i < 32; i++) openOnes.push(await desk.make(ways, ASKED, never));
  let isMade = false;
  const next = desk.make(ways, ASKED, never).then((made) => {
    isMade = true;
    return made;
  });
  await turns();
  assert.equal(isMade, false);
  await openOnes[7]?.close();
  await (await next).close();
  for (const { close } of openOnes) await close();
});

test("what can't be exported gives its places back, and nothing is left in the folder", async (t) => {
  const { desk, ways, store, folder } = deskWithChat(t);
  store.brokenChat = new Failure("unreadable", "the database is damaged");
  for (let i = 0; i < 40; i++) {
    await assert.rejects(desk.make(ways, ASKED, never), { message: "the database is damaged" });
  }
  store.brokenChat = undefined;
  const { document, close } = await desk.make(ways, ASKED, never);
  assert.equal(document.source, "native");
  await close();
  assert.equal(existsSync(folder), false);
});
