import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { Failure } from "../../src/platform/failure.ts";
import { formatRunCursor, parseRunCursor } from "../../src/runs/page.ts";
import { parseRowCursor } from "../../src/stores/list-query.ts";
import { COOKIE } from "../server/harness.ts";
import { sessionServer } from "../support/session-server.ts";

test("the records of a session are found by its id or name, live or ended, and those of other programs by their id", async (t) => {
  const { server, sessions, record } = await sessionServer(t);
  const page = async (name: string) => {
    const { status, body } = await server.ask(`/api/sessions/${name}/events`, { headers: COOKIE });
    return { status, body: JSON.parse(body) };
  };
  sessions.add({ id: "sess_00000001", name: "a name" });
  const nothing = { sessionId: "sess_00000001", events: [], nextSeq: 0, complete: true };
  assert.deepEqual(await page("a%20name"), { status: 200, body: nothing });
  await sessions.prompt("sess_00000001", "Count");
  const { body } = await page("a%20name");
  assert.deepEqual([body.events[0].text, body.nextSeq, body.complete], ["Count", 1, true]);
  await sessions.stop("sess_00000001");
  assert.deepEqual((await page("sess_00000001")).body.events[0], body.events[0]);
  record("ses_other", { seq: 7, ts: "2026-02-03T10:00:00.000Z", kind: "user-prompt", text: "Elsewhere" });
  assert.equal((await page("ses_other")).body.events[0].text, "Elsewhere");
  assert.equal((await page("nothing")).status, 404);
});

test("a terminal or command session has no events, live or ended", async (t) => {
  const { server, sessions, record } = await sessionServer(t);
  sessions.add({ id: "term", kind: "terminal", argv: ["top"] });
  sessions.add({ id: "comm", kind: "command", argv: ["ls"] });
  // Not even when something lies where its recording would be.
  record("term", { seq: 1, ts: "2026-02-03T10:00:00.000Z", kind: "notice", text: "x" });
  for (const state of ["live", "ended"]) {
    for (const [id, kind] of [
      ["term", "terminal"],
      ["comm", "command"],
    ]) {
      for (const path of ["events", "events/stream"]) {
        const { status, body } = await server.ask(`/api/sessions/${id}/${path}`, { headers: COOKIE });
        assert.deepEqual([status, JSON.parse(body).error], [404, `a ${kind} session has no events`], state);
      }
      await sessions.stop(id ?? "");
    }
  }
});

test("the nextSeq of another program's recording is taken as since, whatever number it is", async (t) => {
  const { server, record } = await sessionServer(t);
  const ts = "2026-02-03T10:00:00.000Z";
  const numbers = [-2, -1.5, 0, 4.5, 6, 1e21];
  for (const [n, seq] of numbers.entries()) record("ses_other", { seq, ts, kind: "text-delta", text: `${n}` });
  const texts: string[] = [];
  let since = "";
  for (let pages = 0; pages < 20; pages++) {
    const path = `/api/sessions/ses_other/events?limit=1${since}`;
    const { status, body } = await server.ask(path, { headers: COOKIE });
    assert.equal(status, 200, path);
    const page = JSON.parse(body);
    texts.push(...page.events.map(({ text }: { text: string }) => text));
    if (page.complete) break;
    since = `&since=${encodeURIComponent(page.nextSeq)}`;
  }
  assert.deepEqual(texts, ["0", "1", "2", "3", "4", "5"]);
  for (const bad of ["x", "1e999", "0x1", "01", ".5"]) {
    const { status } = await server.ask(`/api/sessions/ses_other/events?since=${bad}`, { headers: COOKIE });
    assert.equal(status, 400, bad);
  }
});

test("a recording whose only line is longer than a page of a chat is listed, and its records are found", async (t) => {
  const { server, record } = await sessionServer(t);
  const text = `Read this ${"x".repeat(600 * 1024)}`;
  record("ses_long", { seq: 1, ts: "2026-02-03T10:00:00.000Z", kind: "user-prompt", text });
  const { status, body } = await server.ask("/api/sessions/ses_long/events", { headers: COOKIE });
  assert.equal(status, 200);
  assert.equal(JSON.parse(body).events[0].text, text);
  const { sessions } = JSON.parse((await server.ask("/api/sessions", { headers: COOKIE })).body);
  assert.deepEqual(
    sessions.map(({ id }: { id: string }) => id),
    ["ses_long"],
  );
});

test("a session can't take the id of another program's recording for its name", async (t) => {
  const { server, record } = await sessionServer(t);
  record("ses_other", { seq: 7, ts: "2026-02-03T10:00:00.000Z", kind: "user-prompt", text: "Elsewhere" });
  const body = JSON.stringify({ agent: "claude", cwd: tmpdir(), name: "ses_other" });
  const headers = { ...COOKIE, "content-type": "application/json" };
  const { status, body: answer } = await server.ask("/api/sessions", { method: "POST", headers, body });
  assert.deepEqual(
    [status, JSON.parse(answer).error],
    [409, "the name is the id of another session: choose another name"],
  );
});

test("a time before 1970 alone is no place in a list", async (t) => {
  const { server } = await sessionServer(t);
  assert.equal((await server.ask("/api/sessions?before=-1", { headers: COOKIE })).status, 400);
  assert.equal((await server.ask("/api/sessions?before=0", { headers: COOKIE })).status, 200);
  assert.throws(() => parseRowCursor("-1"), Failure);
  assert.equal(parseRunCursor(formatRunCursor({ startedAt: -1, name: "a" })).startedAt, -1);
});
