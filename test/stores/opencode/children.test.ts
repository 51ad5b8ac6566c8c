import assert from "node:assert/strict";
import { test } from "node:test";
import type { EpochMs } from "../../../src/platform/clock.ts";
import type { FindHolders } from "../../../src/stores/opencode/holders.ts";
import type { ChildStatus } from "../../../src/stores/store.ts";
import { requireSessionId } from "../../../src/transcript/names.ts";
import { handClock, homeWith, message, part, SESSION, session, T0, turns } from "./conversation.ts";
import { openStore, readOn, refOf, told } from "./fixtures.ts";

const MINUTE = 60_000;
const KID = "ses_kid";

/** A task part of the parent that names the child. */
function task(state: { readonly [key: string]: unknown }): { readonly [column: string]: unknown } {
  const metadata = { sessionId: KID, parentSessionId: SESSION, ...(state.metadata as object | undefined) };
  return part("prt_9", "msg_0000b", 20, {
    type: "tool",
    tool: "task",
    state: { input: { description: "job" }, ...state, metadata },
  });
}

const completion = (state: string): { readonly [column: string]: unknown } =>
  part("prt_99", "msg_0000a", 9_000, {
    type: "text",
    synthetic: true,
    text: `<task id="${KID}" state="${state}">\n<task_result>…</task_result>\n</task>`,
  });

const answer = (data: { readonly [key: string]: unknown }): { readonly [column: string]: unknown } => ({
  ...message("msg_k1", 2_000, { role: "assistant", ...data }),
  session_id: KID,
});

const held =
  (startedAt: number): FindHolders =>
  async () => [{ pid: 7, startedAt: startedAt as EpochMs }];

const RUNNING = { status: "running" };
const DONE = { status: "completed", output: "" };

/** The status of a child by what is written of it. */
const STATUSES: readonly {
  readonly name: string;
  readonly parts?: readonly { readonly [column: string]: unknown }[];
  readonly kid?: readonly { readonly [column: string]: unknown }[];
  readonly holders?: FindHolders;
  readonly later?: number;
  readonly status: ChildStatus;
}[] = [
  { name: "its task is completed", parts: [task(DONE)], status: "done" },
  { name: "its task failed", parts: [task({ status: "error", error: "x" })], status: "failed" },
  {
    name: "it works in the background, and its completion says that it is done",
    parts: [task({ ...DONE, metadata: { background: true } }), completion("completed")],
    status: "done",
  },
  {
    name: "it works in the background, and its completion says that it failed",
    parts: [task({ ...DONE, metadata: { background: true } }), completion("error")],
    kid: [answer({ finish: "stop", time: { completed: T0 } })],
    status: "failed",
  },
  {
    name: "it works in the background, and was cancelled",
    parts: [task({ ...DONE, metadata: { background: true } }), completion("cancelled")],
    status: "interrupted",
  },
  {
    name: "no task names it, and it has ended",
    kid: [answer({ finish: "stop", time: { completed: T0 + 2_500 } })],
    status: "done",
  },
  { name: "the person stopped it", kid: [answer({ error: { name: "MessageAbortedError" } })], status: "interrupted" },
  { name: "its last answer failed", kid: [answer({ error: { name: "APIError" } })], status: "failed" },
  {
    name: "it is between two steps, and nobody has the database open",
    parts: [task(RUNNING)],
    kid: [answer({ finish: "tool-calls", time: { completed: T0 + 2_500 } })],
    status: "interrupted",
  },
  {
    name: "it runs, and a process has the database open",
    parts: [task(RUNNING)],
    holders: held(T0),
    status: "running",
  },
  {
    name: "it seems to run, and the only process with the database open is younger than it",
    parts: [task(RUNNING)],
    kid: [answer({})],
    holders: held(T0 + 30_000),
    status: "interrupted",
  },
  {
    name: "it seems to run, and wrote nothing for long",
    parts: [task(RUNNING)],
    holders: held(T0),
    later: 60 * MINUTE,
    status: "unknown",
  },
  {
    name: "it seems to run, and the system does not tell who has the database open",
    parts: [task(RUNNING)],
    holders: async () => undefined,
    status: "unknown",
  },
];

for (const { name, parts = [], kid = [], holders, later = MINUTE, status } of STATUSES) {
  test(`a child is ${status} when ${name}`, async (t) => {
    const rows = turns(1);
    const child = session({ id: KID, parent_id: SESSION, title: "job", time_created: T0 + 1_000 });
    const { home } = homeWith(t, {
      session: [session(), child],
      message: [...(rows.message ?? []), ...kid],
      part: [...(rows.part ?? []), ...parts],
    });
    const store = openStore(home, handClock(T0 + later), holders === undefined ? {} : { findHolders: holders });
    const { children } = await store.children(await refOf(store, SESSION));
    assert.deepEqual(
      children.map((entry) => [entry.id, entry.status]),
      [[KID, status]],
    );
  });
}

test("a child that is resumed is linked once, where it was started, and its last task counts", async (t) => {
  const rows = turns(2);
  const child = session({ id: KID, parent_id: SESSION, title: "job", time_created: T0 + 25 });
  const again = part("prt_99", "msg_0001b", 1_020, {
    type: "tool",
    tool: "task",
    state: {
      status: "error",
      input: { task_id: KID, description: "job, again" },
      error: "x",
      metadata: { sessionId: KID },
    },
  });
  const { home } = homeWith(t, {
    ...rows,
    session: [session(), child],
    part: [...(rows.part ?? []), task(DONE), again],
  });
  const store = openStore(home);
  const ref = await refOf(store, SESSION);
  assert.deepEqual(told((await readOn(store, ref)).entries), [
    "user: u0",
    "assistant: a0",
    "task: job → ",
    `subagent: ${KID}`,
    "user: u1",
    "assistant: a1",
    "task: job, again → x !",
  ]);
  assert.equal((await store.children(ref)).children[0]?.status, "failed");
});

test("a session that names itself as its parent is not its own child", async (t) => {
  const { home } = homeWith(t, { session: [session({ parent_id: SESSION })] });
  const store = openStore(home);
  const ref = await refOf(store, SESSION);
  assert.deepEqual((await store.children(ref)).children, []);
  assert.equal(await store.child(ref, requireSessionId(SESSION)), undefined);
});

test("of many children the newest 200 are listed, unless another bound is given, and only direct ones", async (t) => {
  const kids = Array.from({ length: 205 }, (_, n) =>
    session({ id: `ses_kid${n}`, parent_id: SESSION, time_created: T0 + n }),
  );
  const grandchild = session({ id: "ses_grand", parent_id: "ses_kid204" });
  const { home } = homeWith(t, { ...turns(1), session: [session(), ...kids, grandchild] });
  const store = openStore(home);
  const ref = await refOf(store, SESSION);
  const { children } = await store.children(ref);
  assert.deepEqual([children.length, children[0]?.id, children.at(-1)?.id], [200, "ses_kid204", "ses_kid5"]);
  assert.equal((await store.children(ref, 3)).children.length, 3);
  assert.equal((await store.children(ref, Number.POSITIVE_INFINITY)).children.at(-1)?.id, "ses_kid0");
  assert.equal(await store.child(ref, requireSessionId("ses_grand")), undefined);
  assert.ok(await store.child(ref, requireSessionId("ses_kid0")));
});

test("totals are the sum over the answers of a session and its children, each figure only where it is stated", async (t) => {
  const rows = turns(1);
  const used = { input: 10, output: 2, cache: { read: 5 } };
  const { home } = homeWith(t, {
    session: [session(), session({ id: KID, parent_id: SESSION }), session({ id: "ses_loop", parent_id: KID })],
    message: [
      ...(rows.message ?? []),
      message("msg_1", 1, { role: "assistant", tokens: used, cost: 0.1 }),
      message("msg_2", 2, { role: "assistant", tokens: used, cost: 0.2 }),
      answer({ tokens: used }),
    ],
  });
  const store = openStore(home);
  assert.deepEqual(await store.totals(await refOf(store, SESSION)), {
    tokens: { input: 30, output: 6, cacheRead: 15 },
    costUsd: 0.3,
  });
});
