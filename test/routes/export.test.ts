import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { type TestContext, test } from "node:test";
import type { SavedSession } from "../../src/peers/own-sessions.ts";
import { Failure } from "../../src/platform/failure.ts";
import { liveProcess } from "../peers/live-process.ts";
import { finishedLog, put } from "../runs/home.ts";
import { COOKIE, serve } from "../server/harness.ts";
import { at } from "../support/fake-store.ts";
import { servedSessions } from "../support/routes.ts";
import { type PeerServer, peerServer } from "./peer-server.ts";

/** A server whose stores have counted what their sessions took. */
async function exportServer(t: TestContext): Promise<PeerServer> {
  const server = await peerServer(t);
  server.claude.totalsOf = { tokens: {} };
  server.recordings.totalsOf = { tokens: {} };
  return server;
}

/** Says what an export holds: its source, its agent and its texts; or its status and why it was refused. */
type Says = readonly (string | number)[];

async function exported({ server }: Pick<PeerServer, "server">, path: string): Promise<Says> {
  const { status, body } = await server.ask(path, { headers: COOKIE });
  const { meta, messages, error } = JSON.parse(body);
  if (status !== 200) return [status, error];
  return [meta.source, meta.agent, meta.child ?? meta.sessionId, ...messages.map(({ text }: { text: string }) => text)];
}

const of = (path: string, query = ""): string => `${path}/export?format=json${query}`;
const NOT_RECORDED = "nothing was recorded of this session";
const both = (native: string, daemon: string): string => `the agent's own store: ${native}; our recording: ${daemon}`;

test("a session of ours is exported from its agent's own store, and from the recording when that is asked for", async (t) => {
  const all = await exportServer(t);
  all.claude.say("native", "its own");
  all.recordings.say("sess_1", "recorded");
  await all.saveOwn("sess_1", { nativeSessionId: "native", name: "shop" });
  const native = ["native", "claude", "native", "its own"];
  const daemon = ["daemon", "claude", "sess_1", "recorded"];
  for (const path of ["/api/sessions/sess_1", "/api/sessions/shop", "/api/transcripts/claude/native"]) {
    assert.deepEqual(await exported(all, of(path)), native, path);
    assert.deepEqual(await exported(all, of(path, "&source=auto")), native, path);
    assert.deepEqual(await exported(all, of(path, "&source=native")), native, path);
    assert.deepEqual(await exported(all, of(path, "&source=daemon")), daemon, path);
  }
  const recording = "/api/transcripts/daemon/sess_1";
  assert.deepEqual(await exported(all, of(recording)), daemon);
  assert.deepEqual(await exported(all, of(recording, "&source=daemon")), daemon);
  assert.deepEqual(await exported(all, of(recording, "&source=native")), native);
});

for (const [why, fields, prepare, reason] of [
  ["has no transcript there", { nativeSessionId: "native" }, () => {}, [404, "its transcript is not there"]],
  ["has no id there yet", {}, () => {}, [409, "this session has no id yet, so it has no chat: ask again in a moment"]],
  [
    "ended before it had an id there",
    { status: "ended", endedAt: at(9) },
    () => {},
    [404, "this session ended before it had an id there"],
  ],
  [
    "is of an agent whose store is not read",
    { agent: "gemini", nativeSessionId: "native" },
    () => {},
    [404, "there is no store of this agent's sessions here"],
  ],
  [
    "has a transcript that can't be read",
    { nativeSessionId: "native" },
    ({ claude }: PeerServer) => {
      claude.say("native", "its own");
      claude.brokenChat = new Failure("unreadable", "the database is damaged");
    },
    [409, "the database is damaged"],
  ],
  [
    "has a transcript on a disk that fails",
    { nativeSessionId: "native" },
    ({ claude }: PeerServer) => {
      claude.say("native", "its own");
      claude.brokenChat = Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
    },
    [409, "it can't be read (EIO)"],
  ],
] as const satisfies readonly (readonly [string, Partial<SavedSession>, (all: PeerServer) => void, Says])[]) {
  test(`a session that ${why} is exported from its recording, unless its agent's own store is asked for`, async (t) => {
    const all = await exportServer(t);
    prepare(all);
    await all.saveOwn("sess_1", fields);
    const agent = "agent" in fields ? fields.agent : "claude";
    const path = "/api/sessions/sess_1";
    const [status, native] = reason;
    assert.deepEqual(await exported(all, of(path, "&source=native")), reason);
    assert.deepEqual(await exported(all, of(path, "&source=daemon")), [404, NOT_RECORDED]);
    assert.deepEqual(await exported(all, of(path)), [status, both(native, NOT_RECORDED)]);
    all.recordings.say("sess_1", "recorded");
    assert.deepEqual(await exported(all, of(path)), ["daemon", agent, "sess_1", "recorded"]);
    assert.deepEqual(await exported(all, of(path, "&source=native")), reason);
    all.recordings.brokenChat = new Failure("unreadable", "the recording is damaged");
    assert.deepEqual(await exported(all, of(path)), [409, both(native, "the recording is damaged")]);
  });
}

test("a transcript in which nothing is shown yet gives way to the recording, where there is one", async (t) => {
  const all = await exportServer(t);
  all.claude.write("native", '{"type":"summary"}\n');
  await all.saveOwn("sess_1", { nativeSessionId: "native" });
  const path = "/api/sessions/sess_1";
  assert.deepEqual(await exported(all, of(path)), ["native", "claude", "native"]);
  all.recordings.say("sess_1", "recorded");
  assert.deepEqual(await exported(all, of(path)), ["daemon", "claude", "sess_1", "recorded"]);
  assert.deepEqual(await exported(all, of(path, "&source=native")), ["native", "claude", "native"]);
  all.recordings.brokenChat = new Failure("unreadable", "the recording is damaged");
  const reasons = both("nothing is in its transcript yet", "the recording is damaged");
  assert.deepEqual(await exported(all, of(path)), [409, reasons]);
});

test("a fault of ours is told as one, and does not pass for a store that can't be read", async (t) => {
  const all = await exportServer(t);
  all.claude.say("native", "its own");
  all.claude.brokenChat = new TypeError("undefined is not a function");
  all.recordings.say("sess_1", "recorded");
  await all.saveOwn("sess_1", { nativeSessionId: "native" });
  const { status } = await all.server.ask(of("/api/sessions/sess_1"), { headers: COOKIE });
  assert.equal(status, 500);
  assert.ok(all.server.log.some(({ level, route }) => level === "error" && route?.endsWith("/export")));
});

test("a terminal or a command has no export, whatever is asked for", async (t) => {
  const all = await exportServer(t);
  for (const kind of ["terminal", "command"] as const) {
    await all.saveOwn(kind, { kind, agent: undefined, argv: ["sh"] });
    for (const query of ["", "&source=auto", "&source=native", "&source=daemon"]) {
      const said = [404, `a ${kind} session has no chat: see its output`];
      assert.deepEqual(await exported(all, of(`/api/sessions/${kind}`, query)), said);
    }
  }
});

test("the recording of another program is exported by its id, and has no other source", async (t) => {
  const all = await exportServer(t);
  all.recordings.say("other", "recorded elsewhere");
  const unknown = "another program has recorded this session, so where its agent keeps it is not known";
  for (const path of ["/api/sessions/other", "/api/transcripts/daemon/other"]) {
    const daemon = ["daemon", "daemon", "other", "recorded elsewhere"];
    assert.deepEqual(await exported(all, of(path)), daemon);
    assert.deepEqual(await exported(all, of(path, "&source=daemon")), daemon);
    assert.deepEqual(await exported(all, of(path, "&source=native")), [404, unknown]);
  }
});

test("a recording never passes for the agent's own store, whatever sessions.json says", async (t) => {
  const all = await exportServer(t);
  all.recordings.say("sess_1", "recorded");
  await all.saveOwn("sess_1", { agent: "daemon", nativeSessionId: "sess_1" });
  for (const path of ["/api/sessions/sess_1", "/api/transcripts/daemon/sess_1"]) {
    assert.deepEqual(await exported(all, of(path)), ["daemon", "daemon", "sess_1", "recorded"]);
    const none = [404, "there is no store of this agent's sessions here"];
    assert.deepEqual(await exported(all, of(path, "&source=native")), none);
  }
});

test("a peer is exported by its name, from what we recorded of it only if it is a session of ours too", async (t) => {
  const all = await exportServer(t);
  const [cli, fresh] = [await liveProcess(t), await liveProcess(t)];
  all.claude.say("s1", "its own");
  await all.peers.join({ name: "front", agent: "claude", sessionId: "s1", cwd: "/w", pid: cli.pid });
  await all.peers.join({ name: "new", agent: "claude", sessionId: null, cwd: "/w", pid: fresh.pid });
  const path = "/api/sessions/front";
  assert.deepEqual(await exported(all, of(path)), ["native", "claude", "s1", "its own"]);
  assert.deepEqual(await exported(all, of(path, "&source=daemon")), [404, NOT_RECORDED]);
  await all.saveOwn("sess_1", { nativeSessionId: "s1", startedAt: at(1), status: "ended", endedAt: at(2) });
  await all.saveOwn("sess_2", { nativeSessionId: "s1", startedAt: at(3), status: "ended", endedAt: at(4) });
  await all.saveOwn("sess_3", { nativeSessionId: "s1", startedAt: at(5), status: "ended", endedAt: at(6) });
  await all.saveOwn("sess_4", { nativeSessionId: "s1", agent: "codex", startedAt: at(7), status: "ended" });
  all.recordings.say("sess_1", "recorded first");
  all.recordings.say("sess_2", "recorded last");
  all.recordings.say("sess_4", "of another agent");
  assert.deepEqual(await exported(all, of(path, "&source=daemon")), ["daemon", "claude", "sess_2", "recorded last"]);
  const noId = "this session has no id yet, so it has no chat: ask again in a moment";
  assert.deepEqual(await exported(all, of("/api/sessions/new")), [409, both(noId, NOT_RECORDED)]);
  assert.deepEqual(await exported(all, of("/api/sessions/new", "&source=native")), [409, noId]);
});

test("what names nothing is 404, whatever is asked for", async (t) => {
  const all = await exportServer(t);
  for (const query of ["", "&source=native", "&source=daemon"]) {
    for (const path of ["sessions/nobody", "sessions/host%2fa", "transcripts/daemon/none", "transcripts/none/a"]) {
      const [status] = await exported(all, of(`/api/${path}`, query));
      assert.equal(status, 404, `${path} ${query}`);
    }
  }
  const unknown = [404, both("no such transcript", NOT_RECORDED)];
  assert.deepEqual(await exported(all, of("/api/transcripts/claude/none")), unknown);
});

test("a transcript that has gone is exported from what was recorded of it", async (t) => {
  const all = await exportServer(t);
  all.claude.say("native", "its own");
  all.recordings.say("sess_1", "recorded");
  await all.saveOwn("sess_1", { nativeSessionId: "native", status: "ended", endedAt: at(9) });
  rmSync(all.claude.file("native"));
  const daemon = ["daemon", "claude", "sess_1", "recorded"];
  assert.deepEqual(await exported(all, of("/api/transcripts/claude/native")), daemon);
});

test("a subagent is exported on its own, from where it is kept", async (t) => {
  const all = await exportServer(t);
  all.claude.say("native", "its own");
  all.claude.say("native.kid", "from the child");
  all.recordings.say("sess_1", "recorded");
  await all.saveOwn("sess_1", { nativeSessionId: "native" });
  const missing = "this session has no such subagent";
  for (const session of ["/api/sessions/sess_1", "/api/transcripts/claude/native"]) {
    const path = `${session}/subagents/kid`;
    assert.deepEqual(await exported(all, of(path)), ["native", "claude", "kid", "from the child"]);
    assert.deepEqual(await exported(all, of(path, "&source=daemon")), [404, missing]);
    assert.deepEqual(await exported(all, of(`${session}/subagents/none`)), [404, both(missing, missing)]);
  }
});

test("a run and the subagents of a job are exported by their names", async (t) => {
  const { routes, bridgeHome, store, recordings } = servedSessions(t);
  store.totalsOf = { tokens: {} };
  recordings.totalsOf = { tokens: {} };
  store.say("a", "its own");
  store.say("a.kid", "from the child");
  recordings.say("sess_1", "recorded");
  for (const [name, metadata] of [
    ["both", { session: "a", recording: "sess_1" }],
    ["own", { session: "a" }],
    ["recorded", { recording: "sess_1" }],
    ["daemon", { agent: "daemon", session: "sess_1" }],
    ["none", {}],
  ] as const) {
    put(bridgeHome, `runs/${name}.log`, finishedLog(name));
    put(bridgeHome, `runs/${name}.json`, { agent: "claude", job: name, ...metadata });
  }
  put(bridgeHome, "jobs.json", { version: 2, jobs: [{ name: "own", agent: "claude", session: "a", status: "done" }] });
  const server = { server: await serve(t, routes) };
  const native = ["native", "claude", "a", "its own"];
  const daemon = ["daemon", "claude", "sess_1", "recorded"];
  const noId = "no session id was saved for this, so it has no chat";
  for (const [path, said] of [
    [of("/api/runs/both"), native],
    [of("/api/runs/both", "&source=daemon"), daemon],
    [of("/api/runs/own"), native],
    [of("/api/runs/own", "&source=daemon"), [404, NOT_RECORDED]],
    [of("/api/runs/recorded"), daemon],
    [of("/api/runs/recorded", "&source=native"), [409, noId]],
    [of("/api/runs/daemon"), ["daemon", "daemon", "sess_1", "recorded"]],
    [of("/api/runs/none"), [409, both(noId, NOT_RECORDED)]],
    [of("/api/runs/nothing"), [404, "no such run"]],
    [of("/api/runs/both/subagents/kid"), ["native", "claude", "kid", "from the child"]],
    [of("/api/jobs/own/subagents/kid"), ["native", "claude", "kid", "from the child"]],
    [of("/api/jobs/nothing/subagents/kid"), [404, "no such job"]],
  ] as const) {
    assert.deepEqual(await exported(server, path), said, path);
  }
});

test("what is wrong with the query is told first, and by its name", async (t) => {
  const { server } = await exportServer(t);
  for (const [query, error] of [
    ["format=pdf", "format must be one of markdown, json, html"],
    ["format=", 'the parameter "format" is empty'],
    ["format=json&format=html", 'the parameter "format" stands more than once'],
    ["source=disk", "source must be one of auto, native, daemon"],
    ["subagents=true", "subagents must be one of 0, 1"],
    ["reasoning=2", "reasoning must be one of 0, 1"],
    ["maxToolChars=0", "maxToolChars must be a whole number from 1 to 9007199254740991"],
    ["maxToolChars=1e3", "maxToolChars must be a whole number from 1 to 9007199254740991"],
    ["from=0", 'unknown parameter "from"; this route takes: format, source, subagents, reasoning, maxToolChars'],
  ] as const) {
    const { status, body } = await server.ask(`/api/sessions/nobody/export?${query}`, { headers: COOKIE });
    assert.deepEqual([status, JSON.parse(body)], [400, { error }], query);
  }
});

test("an export is a file to keep, whose name is safe, and is never kept by a cache", async (t) => {
  const { server, claude } = await exportServer(t);
  claude.say("s1", "hello");
  const { headers, body } = await server.ask("/api/transcripts/claude/s1/export?format=json", { headers: COOKIE });
  assert.equal(
    headers["content-disposition"],
    `attachment; filename="claude-s1.json"; filename*=UTF-8''claude-s1.json`,
  );
  assert.deepEqual(
    [headers["content-type"], headers["content-length"], headers["cache-control"], headers.etag],
    ["application/json; charset=utf-8", String(Buffer.byteLength(body)), "no-store", undefined],
  );
});
