import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { Failure } from "../../../src/platform/failure.ts";
import { type Cursor, START } from "../../../src/transcript/cursor.ts";
import { toItems } from "../../../src/transcript/item.ts";
import { BUDGET, type Fields, Home, OLDEST, TEN } from "./home.ts";

const call = (id: string, name: string, input: object): string =>
  JSON.stringify([{ id, type: "function", function: { name, arguments: JSON.stringify(input) } }]);

test("a turn shows the prompt, the answer, the call by what it does, and its output under the call's name", async (t) => {
  const home = new Home(t);
  home.session("s1");
  home.say("s1", [
    { content: "Count the files" },
    { role: "system", content: "You are helpful." },
    {
      role: "assistant",
      content: "Counting.",
      reasoning: "List.",
      tool_calls: call("c1", "terminal", { command: "ls" }),
    },
    { role: "tool", content: '{"output": "a b", "error": null}', tool_call_id: "c1" },
    { role: "assistant", content: "Two." },
  ]);
  assert.deepEqual(await home.shown("s1"), [
    { kind: "user", text: "Count the files", ref: "h:1" },
    { kind: "assistant", text: "Counting.", ref: "h:3" },
    { kind: "tool", tool: "terminal", summary: "ls", ref: "h:3" },
    { kind: "tool", tool: "terminal", text: '{"output": "a b", "error": null}', ref: "h:4", of: "h:3" },
    { kind: "assistant", text: "Two.", ref: "h:5" },
  ]);
  const [prompt] = await home.entries("s1");
  assert.deepEqual(prompt, { kind: "user", at: TEN * 1000, pos: "h:1", text: "Count the files" });
});

test("a tool that says it failed is marked", async (t) => {
  const home = new Home(t);
  home.session("s1");
  home.say("s1", [{ role: "tool", tool_name: "read_file", content: '{"error": "no such file"}' }]);
  const [item] = await home.shown("s1");
  assert.deepEqual(item, {
    kind: "tool",
    tool: "read_file",
    text: '{"error": "no such file"}',
    ref: "h:1",
    error: true,
  });
});

test("multimodal content behind a NUL shows its text and no image", async (t) => {
  const home = new Home(t);
  home.session("s1");
  const parts = [
    { type: "text", text: "What is this?" },
    { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
  ];
  home.say("s1", [{ content: `\0json:${JSON.stringify(parts)}` }]);
  assert.deepEqual(await home.texts("s1"), ["What is this?"]);
});

test("an image is told by a placeholder in a tool's output, and in a prompt that is nothing else", async (t) => {
  const home = new Home(t);
  home.session("s1");
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
  const parts = [{ type: "text", text: "seen" }, image];
  home.say("s1", [
    { content: `\0json:${JSON.stringify([image])}` },
    { role: "tool", content: `\0json:${JSON.stringify(parts)}` },
  ]);
  assert.deepEqual(await home.texts("s1"), ["[image]", "seen\n[image]"]);
});

test("an answer that stands only in the Codex items, and reasoning alone", async (t) => {
  const home = new Home(t);
  home.session("s1");
  const items = [
    { type: "reasoning", summary: [] },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "From Codex." }] },
  ];
  const thought = {
    type: "reasoning",
    encrypted_content: "x",
    summary: [{ type: "summary_text", text: "Summed up." }],
    content: [{ type: "reasoning_text", text: "In full." }],
  };
  home.say("s1", [
    { role: "assistant", content: "", codex_message_items: JSON.stringify(items) },
    { role: "assistant", content: null, reasoning_content: "Only a thought." },
    { role: "assistant", content: null, reasoning_details: '[{"type":"reasoning.text","text":"In parts."}]' },
    { role: "assistant", content: null, codex_reasoning_items: JSON.stringify([thought]) },
  ]);
  assert.deepEqual(
    (await home.entries("s1")).map((entry) => [entry.kind, "text" in entry ? entry.text : ""]),
    [
      ["assistant", "From Codex."],
      ["reasoning", "Only a thought."],
      ["reasoning", "In parts."],
      ["reasoning", "Summed up.\nIn full."],
    ],
  );
});

test("the columns that there are make do: the first schema, and a column of `active` that is not filled", async (t) => {
  const home = new Home(t, { schema: OLDEST });
  home.session("s1");
  home.say("s1", [{ content: "Hello" }, { role: "assistant", content: "Hi." }]);
  assert.deepEqual(await home.texts("s1"), ["Hello", "Hi."]);
  home.write((database) => database.exec("ALTER TABLE messages ADD COLUMN active INTEGER"));
  assert.deepEqual(await home.texts("s1"), ["Hello", "Hi."]);
  const [row] = await home.store.list("sweep");
  assert.deepEqual([row?.cwd, row?.updatedAt], ["", TEN * 1000]);
});

test("rows that were taken back, and hidden ones, do not show", async (t) => {
  const home = new Home(t);
  home.session("s1");
  home.say("s1", [
    { content: "one" },
    { content: "taken back", active: 0 },
    { content: "hidden", display_kind: "hidden" },
    { content: "two" },
    { content: "[IMPORTANT: Background process 7 finished]" },
  ]);
  assert.deepEqual(await home.texts("s1"), ["one", "two"]);
});

test("a compaction in place shows what it compacted once, where it stood, to old and new readers", async (t) => {
  const home = new Home(t);
  home.session("s1");
  home.say("s1", [{ content: "one" }, { role: "assistant", content: "1" }, { content: "two" }]);
  const ref = await home.ref("s1");
  const { next } = await home.store.entries(ref, START, BUDGET);
  home.write((database) => database.exec("UPDATE messages SET active = 0, compacted = 1"));
  home.say("s1", [{ role: "assistant", content: "Summary of one", _compressed_summary: 1 }], 50);
  home.say("s1", [{ content: "two" }], 2);
  home.say("s1", [{ content: "three" }], 60);
  const expected = ["one", "1", "two", "the conversation was compacted", "three"];
  assert.deepEqual(await home.texts("s1"), expected);
  const page = await home.store.entries(ref, next, BUDGET);
  assert.equal(page.reset, undefined);
  assert.deepEqual(
    toItems(page.entries).map(({ text, summary }) => text ?? summary),
    expected.slice(3),
  );
});

test("a reader whose last row is taken back starts again, once", async (t) => {
  const home = new Home(t);
  home.session("s1");
  home.say("s1", [{ content: "one" }, { content: "two" }]);
  const ref = await home.ref("s1");
  const first = await home.store.entries(ref, START, BUDGET);
  home.write((database) => database.exec("UPDATE messages SET active = 0 WHERE id = 2"));
  const second = await home.store.entries(ref, first.next, BUDGET);
  assert.deepEqual([second.reset, second.entries.length, second.next], [true, 1, "h:2"]);
  home.say("s1", [{ content: "three" }], 9);
  const third = await home.store.entries(ref, second.next, BUDGET);
  assert.deepEqual([third.reset, third.entries.length, third.next], [undefined, 1, "h:4"]);
});

test("a cursor beyond all rows, and one of another kind", async (t) => {
  const home = new Home(t);
  home.session("s1");
  home.say("s1", [{ content: "one" }]);
  const ref = await home.ref("s1");
  const page = await home.store.entries(ref, "h:99" as Cursor, BUDGET);
  assert.deepEqual([page.reset, page.entries.length], [true, 1]);
  for (const bad of ["j:0:0", "h:-1", "h:1:1", "h:01", "h:99999999999999999"]) {
    await assert.rejects(
      home.store.entries(ref, bad as Cursor, BUDGET),
      (error) => error instanceof Failure && error.kind === "bad-request",
    );
  }
});

test("compression's sessions are one chat under the newest id, with a mark at the seam", async (t) => {
  const home = new Home(t);
  home.session("s1", { ended_at: TEN + 5, end_reason: "compression", title: "Files" });
  home.session("s2", { parent_session_id: "s1", started_at: TEN + 5 });
  home.session("branch", { parent_session_id: "s1", started_at: TEN + 9, model_config: '{"_branched_from":"s1"}' });
  home.say("s1", [{ content: "one" }, { role: "assistant", content: "1" }]);
  home.say("s2", [{ role: "assistant", content: "[CONTEXT COMPACTION - REFERENCE ONLY] So far …" }], 5);
  home.say("s2", [{ role: "assistant", content: "1" }], 1);
  home.say("s2", [{ content: "two" }], 7);
  home.say("branch", [{ content: "elsewhere" }], 10);
  const ref = await home.ref("s1");
  assert.equal(ref.id, "s2");
  assert.deepEqual(await home.texts("s1"), ["one", "1", "the conversation was compacted", "two"]);
  assert.deepEqual(await home.texts("s2"), await home.texts("s1"));
  assert.deepEqual(await home.texts("branch"), ["elsewhere"]);
  const rows = await home.store.list("sweep");
  assert.deepEqual(
    rows.map(({ id, title, startedAt, updatedAt }) => [id, title, startedAt, updatedAt]),
    [
      ["s2", "Files", TEN * 1000, (TEN + 7) * 1000],
      ["branch", "elsewhere", (TEN + 9) * 1000, (TEN + 10) * 1000],
    ],
  );
});

test("who follows a chat goes on into the session that a compression begins", async (t) => {
  const home = new Home(t);
  home.session("s1");
  home.say("s1", [{ content: "one" }]);
  const ref = await home.ref("s1");
  const { next } = await home.store.entries(ref, START, BUDGET);
  home.write((database) => database.exec("UPDATE sessions SET ended_at = 1, end_reason = 'compression'"));
  home.session("s2", { parent_session_id: "s1", started_at: TEN + 5 });
  home.say("s2", [{ content: "two" }], 6);
  const page = await home.store.entries(ref, next, BUDGET);
  assert.deepEqual(
    toItems(page.entries).map(({ text, tool }) => text ?? tool),
    ["compact", "two"],
  );
});

test("parts that are nested without end stand in nobody's way", async (t) => {
  const home = new Home(t);
  home.session("s");
  home.say("s", [{ content: `\0json:${"[".repeat(20_000)}${"]".repeat(20_000)}` }, { content: "two" }]);
  assert.deepEqual(await home.texts("s"), ["two"]);
});

test("a row whose id no cursor can name stands in nobody's way", async (t) => {
  const home = new Home(t);
  home.session("s");
  home.say("s", [{ content: "one" }, { content: "two" }]);
  home.write((database) =>
    database.exec(`INSERT INTO messages (id, session_id, role, content, timestamp)
      VALUES (9007199254740995, 's', 'user', 'far', ${TEN}), (-3, 's', 'user', 'below', ${TEN})`),
  );
  const { entries, next } = await home.read("s", 1);
  assert.deepEqual(
    toItems(entries).map(({ text }) => text),
    ["one", "two"],
  );
  const tail = await home.store.before(await home.ref("s"), "tail", BUDGET);
  assert.deepEqual([toItems(tail.entries).map(({ text }) => text), tail.prev], [["one", "two"], null]);
  home.write((database) =>
    database.exec(
      `INSERT INTO messages (id, session_id, role, content, timestamp) VALUES (3, 's', 'user', 'three', ${TEN})`,
    ),
  );
  assert.deepEqual(
    toItems((await home.read("s", 200, next)).entries).map(({ text }) => text),
    ["three"],
  );
});

test("pages of any size, and backward, give what one read gives", async (t) => {
  const home = new Home(t);
  home.session("s1", { ended_at: 1, end_reason: "compression" });
  home.session("s2", { parent_session_id: "s1", started_at: TEN + 30, input_tokens: 7 });
  for (const [session, from] of [
    ["s1", 0],
    ["s2", 40],
  ] as const) {
    home.say(
      session,
      Array.from({ length: 9 }, (_, index): Fields[] => [
        { content: `ask ${session} ${index}` },
        {
          role: "assistant",
          content: null,
          reasoning: "Hm.",
          tool_calls: call(`c${index}`, "terminal", { command: "x" }),
        },
        { role: "tool", content: "out", tool_call_id: `c${index}` },
        { content: "gone", active: 0 },
      ]).flat(),
      from,
    );
  }
  const whole = await home.read("s1", 200);
  assert.equal(toItems(whole.entries).length, 2 * 9 * 3 + 1);
  for (const parts of [1, 2, 3, 7, 20]) {
    assert.deepEqual(await home.read("s1", parts), whole);
    const back: unknown[] = [];
    const ref = await home.ref("s1");
    for (let before: Cursor | "tail" | null = "tail"; before !== null; ) {
      const page: Awaited<ReturnType<typeof home.store.before>> = await home.store.before(ref, before, {
        ...BUDGET,
        parts,
      });
      if (before === "tail") assert.equal(page.next, whole.next);
      back.unshift(...page.entries);
      before = page.prev;
    }
    assert.deepEqual(back, whole.entries);
  }
});

test("a message over the page's limit is told by its size, and given whole when it is asked for", async (t) => {
  const home = new Home(t);
  home.session("s1");
  home.say("s1", [{ content: "one" }, { role: "assistant", content: "x".repeat(600_000) }, { content: "two" }]);
  assert.deepEqual(await home.texts("s1"), ["one", "a message of 600000 bytes", "two"]);
  const [entry] = await home.store.record(await home.ref("s1"), "h:2" as Cursor);
  assert.equal(entry?.kind === "assistant" && entry.text.length, 600_000);
});

test("a page ends before its texts come to more than its limit", async (t) => {
  const home = new Home(t);
  home.session("s1");
  home.say(
    "s1",
    Array.from({ length: 5 }, () => ({ content: "x".repeat(200_000) })),
  );
  const ref = await home.ref("s1");
  const page = await home.store.entries(ref, START, BUDGET);
  assert.deepEqual([page.entries.length, page.next], [2, "h:3"]);
  const last = await home.store.before(ref, "tail", BUDGET);
  assert.deepEqual([last.entries.length, last.prev], [2, "h:4"]);
});

test("tokens and cost are those that are stored, with the subagents' own; a figure that is not given is absent", async (t) => {
  const home = new Home(t);
  home.session("s1", { input_tokens: 900, output_tokens: 80, estimated_cost_usd: 0.5, actual_cost_usd: null });
  home.session("child", { source: "subagent", model_config: '{"_delegate_from":"s1"}', input_tokens: 100 });
  home.session("bare");
  home.say("s1", [{ content: "one" }]);
  assert.deepEqual(await home.store.totals(await home.ref("s1")), {
    tokens: { input: 1000, output: 80 },
    costUsd: 0.5,
  });
  assert.deepEqual(await home.store.totals(await home.ref("bare")), { tokens: {} });
  assert.deepEqual((await home.entries("s1")).at(-1), {
    kind: "usage",
    at: TEN * 1000,
    pos: "h:1",
    key: "session:s1",
    tokens: { input: 900, output: 80 },
    costUsd: 0.5,
  });
});

test("a subagent stands at its call, or at the answer when it began later, and in its parent's list alone", async (t) => {
  const home = new Home(t);
  home.session("s1");
  home.session("other");
  home.session("kid1", {
    parent_session_id: "s1",
    model_config: '{"_delegate_from":"s1"}',
    started_at: TEN + 2,
    ended_at: TEN + 3,
    end_reason: "completed",
    title: "Look",
  });
  home.session("kid2", { parent_session_id: "s1", model_config: '{"_delegate_from":"s1"}', started_at: TEN + 20 });
  home.say("s1", [
    { content: "go" },
    { role: "assistant", content: null, tool_calls: call("c1", "delegate_task", { goal: "look" }) },
  ]);
  home.say("s1", [{ role: "tool", tool_name: "delegate_task", tool_call_id: "c1", content: "done" }], 30);
  home.say("kid1", [{ content: "look" }], 2);
  const shown = await home.shown("s1");
  assert.deepEqual(
    shown.map(({ kind, id, ref }) => [kind, id ?? ref]),
    [
      ["user", "h:1"],
      ["tool", "h:2"],
      ["subagent", "sub-kid1"],
      ["tool", "h:3"],
      ["subagent", "sub-kid2"],
    ],
  );
  const parent = await home.ref("s1");
  const { children } = await home.store.children(parent);
  assert.deepEqual(
    children.map(({ id, title, status, startedAt }) => [id, title, status, startedAt]),
    [
      ["kid2", "subagent", "unknown", (TEN + 20) * 1000],
      ["kid1", "Look", "done", (TEN + 2) * 1000],
    ],
  );
  assert.deepEqual(
    (await home.store.children(parent, 1)).children.map(({ id }) => id),
    ["kid2"],
  );
  const kid = await home.store.child(parent, "kid1" as never);
  assert.equal(kid?.child, "kid1");
  assert.equal(kid && (await home.store.entries(kid, START, BUDGET)).entries.length, 1);
  assert.equal(await home.store.child(await home.ref("other"), "kid1" as never), undefined);
  const rows = await home.store.list("sweep");
  assert.deepEqual(
    rows.map(({ id, parent: of }) => [id, of]),
    [
      ["s1", undefined],
      ["kid1", "s1"],
    ],
  );
});

test("a call whose subagent may yet come holds the page back until it is five seconds old", async (t) => {
  const home = new Home(t);
  home.session("s1");
  home.say("s1", [
    { content: "go" },
    { role: "assistant", content: null, tool_calls: call("c1", "delegate_task", { goal: "look" }) },
  ]);
  home.clock.at = (TEN + 4) * 1000;
  const ref = await home.ref("s1");
  const early = await home.store.entries(ref, START, BUDGET);
  assert.deepEqual([early.entries.length, early.next, early.settled], [1, "h:2", false]);
  const tail = await home.store.before(ref, "tail", BUDGET);
  assert.deepEqual([tail.entries.length, tail.next, tail.settled], [1, "h:2", false]);
  home.clock.at = (TEN + 7) * 1000;
  const late = await home.store.entries(ref, early.next, BUDGET);
  assert.deepEqual([late.entries.length, late.next, late.settled], [1, "h:3", true]);
});

test("a chat is read without a trace in the folder of the database", async (t) => {
  const home = new Home(t);
  home.session("s1");
  home.say("s1", [{ content: "one" }]);
  const page = await home.store.entries(await home.ref("s1"), START, BUDGET);
  assert.deepEqual(readdirSync(dirname(home.database)), ["state.db"]);
  assert.deepEqual(
    page.uses.map(({ path }) => path),
    [home.database, dirname(home.database)],
  );
});
