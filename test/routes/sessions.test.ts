import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { temporaryFolder } from "../platform/folder.ts";
import { COOKIE, type Received, serve, type TestServer } from "../server/harness.ts";
import { askEvents } from "../support/ask.ts";
import { at } from "../support/fake-store.ts";
import { type ServedSessions, servedSessions } from "../support/routes.ts";
import { until } from "../support/turns.ts";

const JSON_BODY = { ...COOKIE, "content-type": "application/json" };

type Body = { readonly [key: string]: unknown };

interface Asking extends ServedSessions {
  readonly server: TestServer;
  get(path: string): Promise<{ status: number; body: Body }>;
  /** Sends `body` as JSON; a text or bytes as they stand. */
  post(path: string, body?: unknown): Promise<{ status: number; body: Body; headers: Received["headers"] }>;
  delete(path: string): Promise<{ status: number; body: Body }>;
}

/** A server with the routes of sessions. */
async function asking(t: TestContext): Promise<Asking> {
  const all = servedSessions(t);
  const server = await serve(t, all.routes);
  const read = ({ status, body, headers }: Received) => ({ status, body: JSON.parse(body) as Body, headers });
  return {
    ...all,
    server,
    get: async (path) => read(await server.ask(path, { headers: COOKIE })),
    post: async (path, body) => {
      const sent =
        typeof body === "string" || Buffer.isBuffer(body) || body === undefined ? body : JSON.stringify(body);
      return read(
        await server.ask(path, { method: "POST", headers: JSON_BODY, ...(sent !== undefined && { body: sent }) }),
      );
    },
    delete: async (path) => read(await server.ask(path, { method: "DELETE", headers: COOKIE })),
  };
}

const idsOf = ({ body }: { body: Body }): readonly string[] => (body.sessions as { id: string }[]).map(({ id }) => id);

test("the list holds all kinds, live and ended, the last started first, and recordings of other programs as ended", async (t) => {
  const { sessions, recordings, get } = await asking(t);
  sessions.add({ id: "sess_00000001", agent: "claude", status: "ended", startedAt: at(1_000) });
  sessions.add({ id: "sess_00000002", kind: "terminal", argv: ["top"], startedAt: at(3_000) });
  sessions.add({ id: "sess_00000003", kind: "command", argv: ["ls"], status: "failed", startedAt: at(2_000) });
  recordings.say("sess_00000001", "ours");
  recordings.say("other", "not ours");
  const all = await get("/api/sessions");
  assert.deepEqual(idsOf(all), ["sess_00000002", "sess_00000003", "sess_00000001", "other"]);
  assert.deepEqual([all.body.next, all.body.total], [null, 4]);
  assert.deepEqual((all.body.sessions as Body[]).at(-1), {
    id: "other",
    kind: "agent",
    status: "ended",
    cwd: "/w",
    startedAt: 1,
    endedAt: (all.body.sessions as Body[]).at(-1)?.endedAt,
  });
  for (const [query, ids] of [
    ["kind=terminal", ["sess_00000002"]],
    ["kind=agent", ["sess_00000001", "other"]],
    ["state=live", ["sess_00000002"]],
    ["state=ended", ["sess_00000003", "sess_00000001", "other"]],
    ["state=live&kind=agent", []],
  ] as const) {
    assert.deepEqual(idsOf(await get(`/api/sessions?${query}`)), ids, query);
  }
});

test("the pages of the list are the list, whatever their size; sessions of one moment are told apart", async (t) => {
  const { sessions, get } = await asking(t);
  for (let i = 0; i < 7; i++) sessions.add({ id: `sess_0000000${i}`, startedAt: at(i < 4 ? 5 : i) });
  const whole = idsOf(await get("/api/sessions?limit=500"));
  assert.equal(whole.length, 7);
  for (const limit of [1, 2, 3, 7]) {
    const seen: string[] = [];
    for (let before = ""; ; ) {
      const page = await get(`/api/sessions?limit=${limit}${before}`);
      assert.equal(page.body.total, 7);
      seen.push(...idsOf(page));
      if (page.body.next === null) break;
      before = `&before=${encodeURIComponent(String(page.body.next))}`;
    }
    assert.deepEqual(seen, whole);
  }
  assert.deepEqual(idsOf(await get("/api/sessions?before=5")), ["sess_00000004"]);
  for (const query of [
    "limit=0",
    "limit=501",
    "before=x",
    "kind=other",
    "state=on",
    "kind=",
    "x=1",
    "limit=1&limit=2",
  ]) {
    assert.equal((await get(`/api/sessions?${query}`)).status, 400, query);
  }
});

test("a list and a session that did not change are not sent again", async (t) => {
  const { sessions, server } = await asking(t);
  sessions.add({ id: "sess_00000001" });
  for (const path of ["/api/sessions", "/api/sessions/sess_00000001", "/api/sessions/sess_00000001/output"]) {
    const { etag = "" } = (await server.ask(path, { headers: COOKIE })).headers;
    const again = () => server.ask(path, { headers: { ...COOKIE, "if-none-match": etag } });
    assert.equal((await again()).status, 304, path);
    sessions.change("sess_00000001", { model: path });
    sessions.all.get("sess_00000001")?.output.write("more");
    assert.equal((await again()).status, 200, path);
  }
});

test("a session is found by its id before its name, a live one of that name before an ended one, and recordings by id", async (t) => {
  const { sessions, recordings, get } = await asking(t);
  recordings.say("other", "not ours");
  sessions.add({ id: "first", name: "second", status: "ended" });
  sessions.add({ id: "second", name: "a b/é%".replace("/", "-") });
  sessions.add({ id: "third", name: "other" });
  sessions.add({ id: "fourth", name: "again", status: "ended" });
  sessions.add({ id: "fifth", name: "again" });
  sessions.add({ id: "sixth", name: "again", status: "failed" });
  const found = async (name: string) => (await get(`/api/sessions/${encodeURIComponent(name)}`)).body.id;
  assert.equal(await found("second"), "second");
  assert.equal(await found("a b-é%"), "second");
  assert.equal(await found("again"), "fifth");
  assert.equal(await found("other"), "other");
  for (const name of ["nothing", "..", "../first", "a\0", "first ", "x".repeat(200), "host/first"]) {
    assert.equal((await get(`/api/sessions/${encodeURIComponent(name)}`)).status, 404, name);
  }
  for (const path of ["host/first", "first/", "%ff", "%", "first%2f"]) {
    assert.equal((await get(`/api/sessions/${path}`)).status, 404, path);
  }
});

test("a session is started with all that was asked, and answered with where it is", async (t) => {
  const { sessions, post } = await asking(t);
  const cwd = temporaryFolder(t);
  const agent = { agent: "claude", cwd, name: "é 1", model: "m-1", permit: "ask" } as const;
  const started = await post("/api/sessions", agent);
  assert.equal(started.status, 201);
  assert.equal(started.headers.location, `/api/sessions/${started.body.id}`);
  assert.deepEqual([started.body.agent, started.body.status, started.body.name], ["claude", "idle", "é 1"]);
  await post("/api/sessions", { kind: "command", argv: ["ls", "", "-l\n"], cwd });
  await post("/api/sessions", { kind: "terminal", argv: ["top"], cwd, columns: 100, rows: 40 });
  assert.deepEqual(sessions.started, [
    { kind: "agent", ...agent },
    { kind: "command", argv: ["ls", "", "-l\n"], cwd },
    { kind: "terminal", argv: ["top"], cwd, columns: 100, rows: 40 },
  ]);
});

test("a first prompt is sent after the start, and its acceptance is part of the answer", async (t) => {
  const { sessions, post } = await asking(t);
  const cwd = temporaryFolder(t);
  const { status, body } = await post("/api/sessions", { agent: "claude", cwd, prompt: " Do it.\r\n" });
  assert.equal(status, 201);
  assert.deepEqual(body.prompt, { id: body.id, seq: 1 });
  assert.equal(body.status, "busy");
  assert.deepEqual(sessions.all.get(String(body.id))?.prompts, [{ text: " Do it.\r\n", interrupt: false }]);
});

test("what no session can be started with is refused, with the key's name, and nothing is started", async (t) => {
  const { sessions, post } = await asking(t);
  const cwd = temporaryFolder(t);
  const file = join(cwd, "file");
  writeFileSync(file, "");
  const long = "x".repeat(129);
  for (const [body, named] of [
    [{ cwd }, "agent"],
    [{ agent: "claude" }, "cwd"],
    [{ agent: "claude", cwd: "." }, "cwd"],
    [{ agent: "claude", cwd: `${cwd}/none` }, "cwd"],
    [{ agent: "claude", cwd: file }, "cwd"],
    [{ agent: "claude", cwd: `${cwd}\0` }, "cwd"],
    [{ agent: "claude", cwd: `/${"x".repeat(5_000)}` }, "cwd"],
    [{ agent: "claude", cwd: [cwd] }, "cwd"],
    [{ agent: "", cwd }, "agent"],
    [{ agent: "a\nb", cwd }, "agent"],
    [{ agent: 1, cwd }, "agent"],
    [{ agent: null, cwd }, "agent"],
    [{ agent: { toString: "x" }, cwd }, "agent"],
    [{ kind: "pty", agent: "claude", cwd }, "kind"],
    [{ kind: "command", cwd }, "argv"],
    [{ kind: "command", argv: [], cwd }, "argv"],
    [{ kind: "command", argv: "ls", cwd }, "argv"],
    [{ kind: "command", argv: ["ls", 1], cwd }, "argv"],
    [{ kind: "command", argv: ["ls", "a\0b"], cwd }, "argv"],
    [{ kind: "command", argv: ["", "a"], cwd }, "argv"],
    [{ kind: "command", argv: Array.from({ length: 1_001 }, () => "x"), cwd }, "argv"],
    [{ kind: "command", argv: { 0: "ls", length: 1 }, cwd }, "argv"],
    [{ kind: "command", argv: ["ls"], cwd, agent: "claude" }, "agent"],
    [{ kind: "command", argv: ["ls"], cwd, prompt: "x" }, "prompt"],
    [{ kind: "command", argv: ["ls"], cwd, columns: 80, rows: 24 }, "columns"],
    [{ kind: "terminal", argv: ["ls"], cwd, columns: 80 }, "columns"],
    [{ kind: "terminal", argv: ["ls"], cwd, columns: 0, rows: 24 }, "columns"],
    [{ kind: "terminal", argv: ["ls"], cwd, columns: 80, rows: 1.5 }, "rows"],
    [{ kind: "terminal", argv: ["ls"], cwd, columns: 80, rows: "24" }, "rows"],
    [{ kind: "terminal", argv: ["ls"], cwd, permit: "ask" }, "permit"],
    [{ agent: "claude", cwd, argv: ["ls"] }, "argv"],
    [{ agent: "claude", cwd, permit: "always" }, "permit"],
    [{ agent: "claude", cwd, model: "" }, "model"],
    [{ agent: "claude", cwd, name: "" }, "name"],
    [{ agent: "claude", cwd, name: " " }, "name"],
    [{ agent: "claude", cwd, name: long }, "name"],
    [{ agent: "claude", cwd, name: "host/a" }, "name"],
    [{ agent: "claude", cwd, name: "a\u0007" }, "name"],
    [{ agent: "claude", cwd, name: ".." }, "name"],
    [{ agent: "claude", cwd, name: true }, "name"],
    [{ agent: "claude", cwd, prompt: " \n" }, "prompt"],
    [{ agent: "claude", cwd, prompt: ["x"] }, "prompt"],
    [{ agent: "claude", cwd, colour: "x" }, "colour"],
    [{ agent: "claude", cwd, CWD: cwd }, "CWD"],
  ] as const) {
    const { status, body: answer } = await post("/api/sessions", body);
    assert.equal(status, 400, JSON.stringify(body).slice(0, 200));
    assert.match(String(answer.error), new RegExp(named), JSON.stringify(body).slice(0, 200));
    assert.ok(!String(answer.error).includes(cwd), "no path of this machine");
  }
  assert.deepEqual(sessions.started, []);
});

test("hostile JSON is refused and starts nothing", async (t) => {
  const { sessions, post } = await asking(t);
  const cwd = JSON.stringify(temporaryFolder(t));
  const deep = "[".repeat(200_000) + "]".repeat(200_000);
  for (const body of [
    "[]",
    "null",
    '"agent"',
    "1",
    "{",
    deep,
    `{"agent":${deep},"cwd":${cwd}}`,
    `{"agent":"claude","cwd":${cwd},"x":${deep}}`,
    `{"agent":"claude","cwd":${cwd},"__proto__":{"name":"x"}}`,
    `{"agent":"claude","cwd":${cwd},"constructor":1}`,
    `{"agent":"claude","cwd":${cwd},"name":"\\ud800"}`,
    `{"agent":"claude","cwd":${cwd},"prompt":"a\\udc00b"}`,
    `{"kind":"command","argv":["\\ud83d"],"cwd":${cwd}}`,
    `{"agent":"claude","cwd":${cwd},"agent":1}`,
    Buffer.from([0x7b, 0xff, 0x7d]),
  ]) {
    const { status, body: answer } = await post("/api/sessions", body);
    assert.equal(status, 400, body.slice(0, 80).toString());
    assert.deepEqual(Object.keys(answer), ["error"]);
  }
  assert.deepEqual(sessions.started, []);
  assert.equal(({} as { name?: string }).name, undefined);
});

test("a name that a live session has, or is being started under, is taken; that of an ended one is free", async (t) => {
  const { sessions, post } = await asking(t);
  const cwd = temporaryFolder(t);
  const start = (name: string) => post("/api/sessions", { agent: "claude", cwd, name });
  sessions.add({ id: "sess_ended", name: "old", status: "ended" });
  assert.equal((await start("old")).status, 201);
  const again = await start("old");
  assert.equal(again.status, 409);
  assert.match(String(again.body.error), /name/);
  assert.equal((await start("sess_ended")).status, 409, "an id would hide the name");
  let open = (): void => {};
  sessions.gate = new Promise((resolve) => {
    open = resolve;
  });
  const first = start("new");
  await until(() => sessions.started.length === 2);
  assert.equal((await start("new")).status, 409);
  open();
  assert.equal((await first).status, 201);
});

test("a prompt is taken with its number; of two at once one is taken and one told that the session is busy", async (t) => {
  const { sessions, post } = await asking(t);
  sessions.add({ id: "sess_00000001", name: "a name" });
  const both = await Promise.all([
    post("/api/sessions/sess_00000001/prompt", { prompt: "one" }),
    post("/api/sessions/a%20name/prompt", { prompt: "two" }),
  ]);
  const [taken, refused] = both.sort((a, b) => a.status - b.status);
  assert.deepEqual([taken?.status, taken?.body], [202, { id: "sess_00000001", seq: 1 }]);
  assert.deepEqual([refused?.status, refused?.body], [409, { error: "the session is busy" }]);
  const interrupting = await post("/api/sessions/sess_00000001/prompt", { prompt: "three", interrupt: true });
  assert.deepEqual([interrupting.status, interrupting.body.seq], [202, 3]);
});

test("a prompt that is empty, too long or none is refused, and so is one to a session that is dead, of another kind or unknown", async (t) => {
  const { sessions, recordings, post } = await asking(t);
  sessions.add({ id: "live" });
  sessions.add({ id: "dead", status: "interrupted" });
  sessions.add({ id: "term", kind: "terminal", argv: ["top"] });
  recordings.say("other", "not ours");
  for (const body of [
    undefined,
    {},
    { prompt: "" },
    { prompt: " \t\n" },
    { prompt: 1 },
    { prompt: ["x"] },
    { prompt: "x", wait: "yes" },
    { prompt: "x", interrupt: 1 },
    { prompt: "x", more: 1 },
    { prompt: "é".repeat(256 * 1024 + 1) },
    '{"prompt":"\\ud800"}',
  ]) {
    assert.equal((await post("/api/sessions/live/prompt", body)).status, 400);
  }
  assert.equal((await post("/api/sessions/live/prompt", { prompt: "x".repeat(1024 * 1024) })).status, 413);
  const dead = await post("/api/sessions/dead/prompt", { prompt: "x" });
  assert.deepEqual([dead.status, dead.body], [409, { error: "the session has ended" }]);
  assert.equal((await post("/api/sessions/term/prompt", { prompt: "x" })).status, 409);
  const other = await post("/api/sessions/other/prompt", { prompt: "x" });
  assert.deepEqual(
    [other.status, other.body],
    [409, { error: "another program has recorded this session, so it can only be read here" }],
  );
  assert.equal((await post("/api/sessions/nothing/prompt", { prompt: "x" })).status, 404);
  assert.deepEqual(sessions.all.get("live")?.prompts, []);
  const most = "é".repeat(256 * 1024);
  assert.equal((await post("/api/sessions/live/prompt", { prompt: most })).status, 202);
  assert.equal(sessions.all.get("live")?.prompts[0]?.text, most);
});

test("with wait the answer comes when the turn has ended", async (t) => {
  const { sessions, post } = await asking(t);
  const session = sessions.add({ id: "live" });
  const waiting = post("/api/sessions/live/prompt", { prompt: "x", wait: true });
  await until(() => session.prompts.length === 1);
  sessions.finish("live", "completed");
  const { status, body } = await waiting;
  assert.deepEqual([status, body], [200, { reason: "completed", seq: 2 }]);
});

test("a client that goes away while it waits does not end the turn, and the server goes on", async (t) => {
  const { sessions, server, get } = await asking(t);
  const session = sessions.add({ id: "live" });
  const body = '{"prompt":"x","wait":true}';
  const head = `POST /api/sessions/live/prompt HTTP/1.1\r\nHost: localhost\r\nCookie: ${COOKIE.cookie}\r\nContent-Type: application/json\r\n`;
  const socket = connect(server.port, "127.0.0.1", () => {
    socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
  });
  await until(() => session.prompts.length === 1);
  socket.destroy();
  await until(() => server.log.some(({ msg }) => msg === "the client went away"));
  assert.equal((await get("/api/sessions/live")).body.status, "busy");
  sessions.finish("live", "completed");
  assert.equal((await get("/api/sessions/live")).body.status, "idle");
});

test("a session is cancelled, answered, typed into, restarted and stopped, each told what it is then", async (t) => {
  const { sessions, post, delete: remove, get } = await asking(t);
  const session = sessions.add({ id: "live", name: "mine", agent: "claude" });
  const term = sessions.add({ id: "term", kind: "terminal", argv: ["top"] });
  await post("/api/sessions/live/prompt", { prompt: "x" });
  sessions.ask("live", "t1", [{ optionId: "yes", name: "Yes", kind: "allow_once" }]);
  const asked = await get("/api/sessions/mine");
  assert.equal(asked.body.status, "awaiting-input");
  assert.deepEqual((asked.body.permissions as Body[])[0]?.toolCallId, "t1");
  for (const [body, status] of [
    [{ toolCallId: "t2", optionId: "yes" }, 404],
    [{ toolCallId: "t1", optionId: "no" }, 400],
    [{ toolCallId: "t1" }, 400],
    [{ toolCallId: "t1", optionId: 1 }, 400],
    [{ toolCallId: "t1", optionId: "yes", always: true }, 400],
  ] as const) {
    assert.equal((await post("/api/sessions/live/permissions", body)).status, status, JSON.stringify(body));
  }
  const answered = await post("/api/sessions/live/permissions", { toolCallId: "t1", optionId: "yes" });
  assert.deepEqual([answered.status, answered.body.status, answered.body.permissions], [200, "busy", undefined]);
  assert.deepEqual(session.answers, [{ toolCallId: "t1", optionId: "yes" }]);
  const cancelled = await post("/api/sessions/live/cancel");
  assert.deepEqual([cancelled.status, cancelled.body.status], [200, "idle"]);
  assert.equal((await post("/api/sessions/live/cancel", { now: true })).status, 400);

  assert.equal((await post("/api/sessions/term/input", { text: "q\u0000\u001b[A" })).status, 200);
  assert.equal((await post("/api/sessions/term/input", { columns: 100, rows: 30 })).status, 200);
  assert.equal((await post("/api/sessions/term/input", { end: true })).status, 200);
  for (const body of [
    {},
    { columns: 100 },
    { columns: 100, rows: 0 },
    { text: 1 },
    { end: "yes" },
    '{"text":"\\ud800"}',
  ]) {
    assert.equal((await post("/api/sessions/term/input", body)).status, 400, JSON.stringify(body));
  }
  assert.deepEqual(term.inputs, [{ text: "q\u0000\u001b[A" }, { columns: 100, rows: 30 }, { end: true }]);
  assert.equal((await post("/api/sessions/live/input", { text: "x" })).status, 409);

  const restarted = await post("/api/sessions/mine/restart");
  assert.deepEqual([restarted.status, restarted.body.restartedFrom], [201, "live"]);
  assert.equal(restarted.headers.location, `/api/sessions/${restarted.body.id}`);
  const stopped = await remove(`/api/sessions/${restarted.body.id}`);
  assert.deepEqual([stopped.status, stopped.body.status], [200, "ended"]);
  assert.deepEqual((await remove(`/api/sessions/${restarted.body.id}`)).body, stopped.body);
  assert.deepEqual(idsOf(await get("/api/sessions?state=ended")).length, 2);
});

test("what another program has recorded can be read and not driven", async (t) => {
  const { recordings, post, get, delete: remove } = await asking(t);
  recordings.say("other", "not ours");
  assert.equal((await get("/api/sessions/other")).body.status, "ended");
  for (const [verb, body] of [
    ["cancel", {}],
    ["restart", {}],
    ["input", { text: "x" }],
    ["permissions", { toolCallId: "t", optionId: "o" }],
  ] as const) {
    assert.equal((await post(`/api/sessions/other/${verb}`, body)).status, 409, verb);
    assert.equal((await post(`/api/sessions/nothing/${verb}`, body)).status, 404, verb);
  }
  assert.equal((await remove("/api/sessions/other")).status, 409);
  assert.equal((await remove("/api/sessions/nothing")).status, 404);
  assert.deepEqual((await get("/api/sessions/other/output?since=7")).body, { text: "", from: 7, next: 7 });
});

test("what changes something takes JSON alone, from this server's own pages, at most 1 MiB of it", async (t) => {
  const { sessions, server, routes } = await asking(t);
  sessions.add({ id: "live" });
  const changing = routes.filter(({ method, pattern }) => method !== "GET" && pattern.startsWith("/api/sessions"));
  assert.equal(changing.length, 7);
  for (const { method, pattern } of changing) {
    const path = pattern.replace(":session", "live");
    const status = async (headers: { [name: string]: string }, body?: string): Promise<number> =>
      (await server.ask(path, { method, headers, ...(body !== undefined && { body }) })).status;
    assert.equal(await status({ "content-type": "application/json" }, method === "POST" ? "{}" : undefined), 403, path);
    assert.equal(await status({ ...JSON_BODY, origin: "http://evil.example" }), 403, path);
    assert.equal(await status({ ...JSON_BODY, origin: "null" }), 403, path);
    assert.equal(await status({ ...JSON_BODY, "sec-fetch-site": "cross-site" }), 403, path);
    if (method === "DELETE") {
      assert.equal(await status({ ...JSON_BODY, "content-length": "2" }, "{}"), 400, path);
      continue;
    }
    assert.equal(await status({ ...COOKIE, "content-type": "text/plain" }, "{}"), 415, path);
    assert.equal(await status({ ...COOKIE, "content-type": "application/x-www-form-urlencoded" }, "a=b"), 415, path);
    assert.equal(await status(COOKIE), 415, path);
    assert.equal(await status(JSON_BODY, `{"text":"${"x".repeat(1024 * 1024)}"}`), 413, path);
    assert.equal(await status(JSON_BODY, "[]"), 400, path);
    assert.equal(await status(JSON_BODY, '{"unknown":1}'), 400, path);
    const got = await server.ask(path, { headers: COOKIE });
    assert.equal(got.status, path === "/api/sessions" ? 200 : 405, path);
  }
  assert.deepEqual(sessions.started, []);
  assert.equal(sessions.all.get("live")?.shown.status, "idle");
});

test("a session's output is read on from where an earlier read ended, and says when something is no longer kept", async (t) => {
  const { sessions, get } = await asking(t);
  const { output } = sessions.add({ id: "live" });
  const path = "/api/sessions/live/output";
  assert.deepEqual((await get(path)).body, { text: "", from: 0, next: 0 });
  output.write("héllo\n");
  assert.deepEqual((await get(path)).body, { text: "héllo\n", from: 0, next: 7 });
  output.write("\u001b[31mred");
  assert.deepEqual((await get(`${path}?since=7`)).body, { text: "\u001b[31mred", from: 7, next: 15 });
  output.forget(9);
  assert.equal((await get(`${path}?since=7`)).body.cut, true);
  for (const since of ["-1", "x", "1.5", "", "9007199254740992"]) {
    assert.equal((await get(`${path}?since=${since}`)).status, 400, since);
  }
  assert.equal((await get("/api/sessions/nothing/output")).status, 404);
  assert.equal((await get("/api/sessions/nothing/output/stream")).status, 404);
});

/** The events of a stream as text, until the server ends it. */
async function streamed(server: TestServer, path: string, headers: { [name: string]: string } = {}): Promise<string> {
  return (await server.ask(path, { headers: { ...COOKIE, ...headers } })).body;
}

test("the stream of an output goes on where it is told, and says the session's end", async (t) => {
  const { sessions, server } = await asking(t);
  const { output } = sessions.add({ id: "live" });
  const path = "/api/sessions/live/output/stream";
  output.write("one\n");
  const whole = streamed(server, path);
  const part = streamed(server, `${path}?since=0`, { "last-event-id": "4" });
  await until(() => output.followers === 2);
  output.write("two\n");
  await sessions.stop("live");
  const end = 'event: end\nid: 8\ndata: {"next":8}\n\n';
  const two = 'id: 8\ndata: {"text":"two\\n","from":4,"next":8}\n\n';
  assert.equal(await whole, `id: 4\ndata: {"text":"one\\n","from":0,"next":4}\n\n${two}${end}`);
  assert.equal(await part, two + end);
  assert.equal(await streamed(server, `${path}?since=8`), end);
  for (const id of ["x", "-1", "1.5"]) {
    assert.equal((await server.ask(path, { headers: { ...COOKIE, "last-event-id": id } })).status, 400, id);
  }
});

test("a stream that the server ends does not say that its session has", async (t) => {
  const { sessions, server } = await asking(t);
  sessions.add({ id: "live" }).output.write("one\n");
  const received = streamed(server, "/api/sessions/live/output/stream");
  await until(() => sessions.all.get("live")?.output.followers === 1);
  await server.close();
  assert.doesNotMatch(await received, /event: end/);
});

test("a change of the sessions is told on the stream of all changes", async (t) => {
  const { sessions, routes } = await asking(t);
  const left = new AbortController();
  const events = await askEvents(routes, "/api/events", { signal: left.signal });
  assert.equal((await events.next()).value.event, "hello");
  sessions.add({ id: "new" });
  assert.deepEqual((await events.next()).value, { event: "sessions", data: {} });
  left.abort();
  assert.equal((await events.next()).done, true);
});
