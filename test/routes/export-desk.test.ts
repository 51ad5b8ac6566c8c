import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Failure } from "../../src/platform/failure.ts";
import { ExportDesk } from "../../src/routes/export-desk.ts";
import type { ExportWays } from "../../src/routes/export-source.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { FakeStore, sid } from "../support/fake-store.ts";

const ASKED = { format: "json", source: "native", subagents: false, reasoning: false } as const;
const never = new AbortController().signal;
const turns = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

/** A desk, and the ways to a chat that are found once a test lets them be. */
function deskWithChat(t: TestContext) {
  const store = new FakeStore();
  t.after(() => store.remove());
  store.totalsOf = { tokens: {} };
  store.say("a", "hello");
  const folder = join(temporaryFolder(t), "cache");
  let open = (): void => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const begun: string[] = [];
  const waysOf = (name: string): ExportWays => ({
    async native() {
      begun.push(name);
      await gate;
      const ref = await store.find(sid("a"));
      if (ref === undefined) throw new Failure("not-found", "no such transcript");
      return { store, ref, source: "native" };
    },
    daemon: () => Promise.reject(new Failure("not-found", "nothing was recorded")),
    shows: async () => true,
  });
  return { desk: new ExportDesk(folder), waysOf, begun, open, store, folder };
}

test("four exports are made at a time, the others in their order; who leaves is passed over", async (t) => {
  const { desk, waysOf, begun, open } = deskWithChat(t);
  const left = new AbortController();
  const make = (name: string, signal = never) => desk.make(waysOf(name), ASKED, signal);
  const made = ["a", "b", "c", "d"].map((name) => make(name));
  const leaving = make("e", left.signal);
  made.push(make("f"), make("g"));
  await turns();
  assert.deepEqual(begun, ["a", "b", "c", "d"]);
  left.abort(new Error("gone"));
  await assert.rejects(leaving, { message: "gone" });
  open();
  for (const { close } of await Promise.all(made)) await close();
  assert.deepEqual(begun, ["a", "b", "c", "d", "f", "g"]);
});

test("sixteen exports are open at a time: the next waits until one is closed", async (t) => {
  const { desk, waysOf, begun, open } = deskWithChat(t);
  open();
  const openOnes = [];
  for (let i = 1; i <= 16; i++) openOnes.push(await desk.make(waysOf(String(i)), ASKED, never));
  const next = desk.make(waysOf("next"), ASKED, never);
  await turns();
  assert.equal(begun.includes("next"), false);
  await openOnes[7]?.close();
  await (await next).close();
});

test("what can't be exported gives its places back, and nothing is left in the folder", async (t) => {
  const { desk, waysOf, open, store, folder } = deskWithChat(t);
  open();
  store.brokenChat = new Failure("unreadable", "the database is damaged");
  for (let i = 0; i < 20; i++) {
    await assert.rejects(desk.make(waysOf(String(i)), ASKED, never), { message: "the database is damaged" });
  }
  store.brokenChat = undefined;
  const { document, close } = await desk.make(waysOf("good"), ASKED, never);
  assert.equal(document.source, "native");
  await close();
  assert.equal(existsSync(folder), false);
});
