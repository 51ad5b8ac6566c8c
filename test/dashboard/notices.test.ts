import assert from "node:assert/strict";
import { test } from "node:test";
import { FewNotices, newsIn, type Watched, waitingIn, watched } from "../../src/dashboard/app/parts/notices.ts";
import type { OwnSession, Peer } from "../../src/dashboard/app/wire.ts";

const own = (status: OwnSession["status"], more: Partial<OwnSession> = {}): OwnSession => ({
  ...{ id: "s1", kind: "agent", agent: "claude", name: "shop", cwd: "/work", startedAt: 1 },
  ...{ status, ...more },
});
const peer = (activity: string, more: Partial<Peer> = {}): Peer => ({
  ...{ name: "p", agent: "codex", sessionId: "c1", cwd: "/work", startedAt: 1, title: "Fix it" },
  ...{ activity, ...more },
});
const asks = (title: string): Partial<OwnSession> => ({ permissions: [{ toolCallId: "t", title, options: [] }] });

/** What is told while sessions go from one state to the next, a minute apart. */
function told(...states: { readonly sessions?: readonly OwnSession[]; readonly peers?: readonly Peer[] }[]): string[] {
  let before: ReadonlyMap<string, Watched> = new Map();
  return states.flatMap(({ sessions = [], peers = [] }, minute) => {
    const after = watched(sessions, peers, before, minute * 60_000);
    const news = minute === 0 ? [] : newsIn(before, after);
    before = after;
    return news.map(({ title, text }) => `${title}: ${text}`);
  });
}

test("a session of ours is told of when it waits, asks something else, fails and ends", () => {
  const waits = { sessions: [own("awaiting-input", asks("Write a.txt"))] };
  assert.deepEqual(told({ sessions: [own("busy")] }, waits, waits), [
    "Claude Code · shop: Waits for your answer: Write a.txt",
  ]);
  assert.deepEqual(told(waits, { sessions: [own("awaiting-input", asks("Write b.txt"))] }), [
    "Claude Code · shop: Waits for your answer: Write b.txt",
  ]);
  assert.deepEqual(told({ sessions: [own("busy")] }, { sessions: [own("failed", { error: "it went\nwrong" })] }), [
    "Claude Code · shop: Failed: it went wrong",
  ]);
  assert.deepEqual(told({ sessions: [own("idle")] }, { sessions: [own("interrupted")] }), [
    "Claude Code · shop: Ended",
  ]);
});

test("what had ended before is not told, nor that it is gone from the list", () => {
  assert.deepEqual(told({}, { sessions: [own("ended")] }, {}), []);
});

test("a session that begins is not told of, unless it asks at once", () => {
  assert.deepEqual(told({}, { sessions: [own("starting")] }, { sessions: [own("busy")] }), []);
  assert.equal(told({}, { sessions: [own("awaiting-input")] }).length, 1);
});

test("other programs' sessions are told of when they wait, are done after long, and are gone", () => {
  assert.deepEqual(
    told(
      { peers: [peer("busy")] },
      { peers: [peer("idle")] },
      { peers: [peer("busy")] },
      { peers: [peer("waiting")] },
      {},
    ),
    [
      "Codex · Fix it: Is done, and waits for what comes next",
      "Codex · Fix it: Waits for your answer",
      "Codex · Fix it: Ended",
    ],
  );
});

test("a short turn is not told of", () => {
  const busy = watched([], [peer("busy")], new Map(), 0);
  assert.deepEqual(newsIn(busy, watched([], [peer("idle")], busy, 29_000)), []);
});

test("a live session of ours that stands among the peers too is watched once", () => {
  const session = own("awaiting-input", { nativeSessionId: "n1" });
  const peers = [peer("busy", { sessionId: "n1", agent: "claude" }), peer("busy", { sessionId: null, name: "shop" })];
  const all = watched([session], peers, new Map(), 0);
  assert.deepEqual([...all.keys()], ["own s1"]);
  assert.equal(waitingIn(all).length, 1);
});

test("no text of a session can hide or turn what a notice says", () => {
  const sessions = [own("awaiting-input", { name: "a\u202eb", ...asks("x\u0007\u001b[31my") })];
  assert.deepEqual(told({}, { sessions }), ["Claude Code · ab: Waits for your answer: xy"]);
});

test("there are few notices a minute", () => {
  const few = new FewNotices();
  const notices = newsIn(
    new Map(),
    watched(
      Array.from({ length: 9 }, (_, i) => own("awaiting-input", { id: `s${i}`, name: `n${i}` })),
      [],
      new Map(),
      0,
    ),
  );
  assert.equal(few.pass(notices, 0).length, 4);
  assert.equal(few.pass(notices, 59_000).length, 0);
  assert.equal(few.pass(notices, 61_000).length, 4);
});
