import assert from "node:assert/strict";
import { renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { COOKIE, serve } from "../server/harness.ts";
import { served } from "../support/routes.ts";

const CHILD = "/api/transcripts/claude/a/subagents/c";

/** Files that were written long enough ago for their pages to have an ETag. */
function settle(...files: readonly string[]): void {
  for (const file of files) utimesSync(file, 1_700_000_000, 1_700_000_000);
}

async function polled(t: TestContext) {
  const { routes, store } = served(t);
  store.say("a", "parent");
  store.say("a.c", "child");
  const files = { parent: store.file("a"), child: store.file("a.c") };
  settle(files.parent, files.child);
  const server = await serve(t, routes);
  const { etag } = (await server.ask(CHILD, { headers: COOKIE })).headers;
  assert.ok(etag);
  const poll = (path = CHILD) => server.ask(path, { headers: { ...COOKIE, "if-none-match": etag } });
  assert.equal((await poll()).status, 304);
  return { store, files, poll };
}

test("a subagent whose session was moved away or deleted is 404, also for who holds its page", async (t) => {
  const { files, poll } = await polled(t);
  renameSync(files.parent, `${files.parent}.away`);
  assert.equal((await poll()).status, 404);
  renameSync(`${files.parent}.away`, files.parent);
  assert.equal((await poll()).status, 304);
  rmSync(files.parent);
  assert.equal((await poll()).status, 404);
});

test("a subagent's page stays valid while its session grows, and is looked at again when that is another file", async (t) => {
  const { store, files, poll } = await polled(t);
  const reads = store.reads;
  store.say("a", "more");
  assert.equal((await poll()).status, 304);
  assert.equal(store.reads, reads);
  // Kept aside, so that the new file can't get its number.
  renameSync(files.parent, `${files.parent}.away`);
  writeFileSync(files.parent, "");
  assert.equal((await poll()).status, 200);
});

test("a star names nothing that is not there", async (t) => {
  const { routes, store } = served(t);
  store.say("a", "parent");
  store.say("a.c", "child");
  settle(store.file("a"), store.file("a.c"));
  const server = await serve(t, routes);
  const ask = () => server.ask(CHILD, { headers: { ...COOKIE, "if-none-match": "*" } });
  assert.equal((await ask()).status, 304);
  rmSync(store.file("a"));
  assert.equal((await ask()).status, 404);
});
