import assert from "node:assert/strict";
import { test } from "node:test";
import { liveProcess } from "../peers/live-process.ts";
import { COOKIE } from "../server/harness.ts";
import { askEvents } from "../support/ask.ts";
import { at, sid } from "../support/fake-store.ts";
import { nextOf } from "../support/turns.ts";
import { peerServer } from "./peer-server.ts";

test("a session joins, stands in the state under its name, and leaves", async (t) => {
  const { post, get, leave, claude } = await peerServer(t);
  const cli = await liveProcess(t);
  claude.say("s1", "hello");
  const body = { name: "front end", agent: "claude", sessionId: "s1", cwd: "/w", pid: cli.pid };
  const joined = await post({ ...body, start: cli.identity.start });
  const { startedAt, ...peer } = joined.body;
  assert.equal(joined.status, 201);
  assert.deepEqual(peer, { name: "front end", agent: "claude", sessionId: "s1", cwd: "/w", pid: cli.pid });
  assert.equal(typeof startedAt, "number");
  const state = await get("/api/state");
  assert.deepEqual(state.body.peers, [{ ...peer, startedAt, title: "Title of s1" }]);
  assert.deepEqual(await leave("front end"), { status: 200, body: { name: "front end" } });
  assert.deepEqual((await get("/api/state")).body.peers, []);
  assert.equal((await leave("front end")).status, 404);
});

test("what is wrong with a body is said, and nothing is saved", async (t) => {
  const { post, own } = await peerServer(t);
  const body = { agent: "claude", sessionId: "s1", cwd: "/w", pid: process.pid };
  for (const [change, told] of [
    [{ later: 1 }, /unknown key "later"/],
    [{ agent: undefined }, /"agent" is missing/],
    [{ agent: "daemon" }, /agent must be one of claude, codex, opencode, hermes/],
    [{ sessionId: undefined }, /"sessionId" is missing/],
    [{ sessionId: "../x" }, /sessionId must be the id of a session, or null/],
    [{ cwd: "w" }, /cwd must be the absolute path/],
    [{ pid: 0 }, /pid must be a whole number/],
    [{ pid: -1 }, /pid/],
    [{ pid: "1" }, /pid/],
    [{ start: "" }, /start must be 1 to 128 characters/],
    [{ name: "host/a" }, /name must be 1 to 128 characters without \//],
    [{ name: "" }, /name/],
    [{ name: "x".repeat(129) }, /name/],
    [{ name: "a\u0000" }, /name/],
    [{ name: ".." }, /name/],
  ] as const) {
    const { status, body: answer } = await post({ ...body, ...change });
    assert.equal(status, 400, JSON.stringify(change));
    assert.match(String(answer.error), told);
  }
  assert.deepEqual(own.read().peers, []);
});

test("who can't join or leave is told why, with 409", async (t) => {
  const { post, leave, saveOwn, claude } = await peerServer(t);
  const [cli, other] = [await liveProcess(t), await liveProcess(t)];
  const body = { agent: "claude", sessionId: "s1", cwd: "/w/shop", pid: cli.pid };
  assert.match(String((await post({ ...body, start: "1" })).body.error), /no process \d+ runs that began then/);
  assert.equal((await post({ ...body, name: "a" })).status, 201);
  const second = await post({ ...body, name: "a", sessionId: "s2", pid: other.pid });
  assert.deepEqual([second.status, second.body.error], [409, 'another live session is named "a": choose another name']);
  await saveOwn("sess_1", { name: "till" });
  claude.proofs = [{ id: sid("s3"), pid: process.pid, cwd: "/w/shop", startedAt: at(1) }];
  for (const name of ["till", "claude-shop"]) {
    const { status } = await leave(name);
    assert.equal(status, 409, name);
  }
});

test("a peer can't take the id of a session of ours, or of a recording, for its name", async (t) => {
  const { post, saveOwn, recordings } = await peerServer(t);
  const cli = await liveProcess(t);
  await saveOwn("sess_00000001");
  await saveOwn("sess_00000002", { status: "ended", endedAt: at(600) });
  recordings.say("ses_other", "hello");
  const body = { agent: "claude", sessionId: "s1", cwd: "/w", pid: cli.pid };
  for (const name of ["sess_00000001", "sess_00000002", "ses_other"]) {
    const { status, body: answer } = await post({ ...body, name });
    assert.deepEqual([status, answer.error], [409, "the name is the id of a session: choose another name"], name);
  }
  assert.equal((await post({ ...body, name: "ses_nobody" })).status, 201);
});

test("an unchanged state is answered 304, and no longer once a peer has died", async (t) => {
  const { post, server } = await peerServer(t);
  const cli = await liveProcess(t);
  await post({ name: "front", agent: "codex", sessionId: null, cwd: "/w", pid: cli.pid });
  const first = await server.ask("/api/state", { headers: COOKIE });
  const asked = { headers: { ...COOKIE, "if-none-match": first.headers.etag ?? "" } };
  assert.equal((await server.ask("/api/state", asked)).status, 304);
  await cli.end();
  const after = await server.ask("/api/state", asked);
  assert.deepEqual([after.status, JSON.parse(after.body).peers], [200, []]);
});

test("the stream of changes tells of peers", async (t) => {
  const { routes, peers } = await peerServer(t);
  const end = new AbortController();
  t.after(() => end.abort());
  const events = await askEvents(routes, "/api/events", { signal: end.signal });
  assert.equal((await nextOf(events)).event, "hello");
  const cli = await liveProcess(t);
  const next = nextOf(events);
  await peers.join({ agent: "codex", sessionId: null, cwd: "/w", pid: cli.pid });
  assert.deepEqual(await next, { event: "peers", data: { generation: 1 } });
});
