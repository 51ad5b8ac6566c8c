import assert from "node:assert/strict";
import { test } from "node:test";
import { type OwnList, withFirstPage, withNextPage } from "../../../src/dashboard/app/agents/own-list.ts";
import type { OwnSession, OwnSessionPage } from "../../../src/dashboard/app/wire.ts";

function session(startedAt: number, more: Partial<OwnSession> = {}): OwnSession {
  return { id: `s${startedAt}`, kind: "command", status: "ended", cwd: "/", startedAt, ...more };
}

function page(times: readonly number[], next: string | null): OwnSessionPage {
  return { sessions: times.map((at) => session(at)), next, total: times.length };
}

function ids({ live, ended, next }: OwnList): unknown {
  return [live.map(({ id }) => id), ended.map(({ id }) => id), next];
}

test("what waits for an answer stands before what else is live, and the last started before the others", () => {
  const live = [
    session(5, { status: "busy" }),
    session(9, { status: "idle" }),
    session(3, { status: "awaiting-input" }),
  ];
  assert.deepEqual(ids(withFirstPage(undefined, live, page([2, 1], null))), [["s3", "s9", "s5"], ["s2", "s1"], null]);
});

test("a page goes behind the last one", () => {
  const first = withFirstPage(undefined, [], page([9, 8], "a"));
  assert.deepEqual(ids(withNextPage(first, page([7, 6], null))), [[], ["s9", "s8", "s7", "s6"], null]);
});

test("a session that has ended comes on top, and what was read below stays", () => {
  const first = withNextPage(withFirstPage(undefined, [], page([9, 8], "a")), page([7, 6], "b"));
  assert.deepEqual(ids(withFirstPage(first, [], page([10, 9], "c"))), [[], ["s10", "s9", "s8", "s7", "s6"], "b"]);
});

test("a session that is live again, or was when the other list was read, stands once", () => {
  const first = withFirstPage(undefined, [], page([9, 8], "a"));
  const again = withFirstPage(first, [session(9, { status: "busy" })], page([9, 8], "a"));
  assert.deepEqual(ids(again), [["s9"], ["s8"], "a"]);
});

test("where so much is new that the pages no longer meet, what was read below is let go", () => {
  const first = withFirstPage(undefined, [], page([9, 8], "a"));
  assert.deepEqual(ids(withFirstPage(first, [], page([20, 19], "b"))), [[], ["s20", "s19"], "b"]);
});

test("where the first page holds all, what is not in it is gone", () => {
  const first = withNextPage(withFirstPage(undefined, [], page([9, 8], "a")), page([7], null));
  assert.deepEqual(ids(withFirstPage(first, [], page([9, 8], null))), [[], ["s9", "s8"], null]);
});
