import assert from "node:assert/strict";
import { test } from "node:test";
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
