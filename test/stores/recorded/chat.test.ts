import assert from "node:assert/strict";
import { test } from "node:test";
import { type Cursor, START } from "../../../src/transcript/cursor.ts";
import { toItems } from "../../../src/transcript/item.ts";
import { type Body, BUDGET, Home, lines, settled } from "./home.ts";

const prompt: Body = { kind: "user-prompt", text: "go" };
const said = (text: string, partial = false): Body => ({ kind: "text-delta", text, ...(partial && { partial }) });
const called = (toolCallId: string, toolName: string, input: unknown): Body => ({
  kind: "tool-call",
  toolCallId,
  toolName,
  arguments: input,
});
const gave = (toolCallId: string, result: unknown, isError = false): Body => ({
  kind: "tool-result",
  toolCallId,
  result,
  isError,
});

test("lines and the rest of a line are one answer, byte for byte", async (t) => {
  const home = new Home(t);
  assert.deepEqual(await home.shown(said("a\r\n"), said("\n"), said("b", true), said("c\n"), said("d")), [
    { kind: "assistant", text: "a\r\n\nbc\nd", id: "e1" },
  ]);
});

test("a word that the timer split stays one, whatever stands between", async (t) => {
  const home = new Home(t);
  const between: Body[] = [
    { kind: "thought", text: "hm\n" },
    { kind: "usage_update", size: 9, used: 1 },
    called("t1", "ls", {}),
    { kind: "newer-kind" },
  ];
  for (const one of between) {
    const shown = await home.shown(prompt, said("wo", true), one, said("rd\n"));
    assert.deepEqual(
      shown.filter(({ kind }) => kind === "assistant"),
      [{ kind: "assistant", text: "word\n", id: "e2" }],
    );
  }
});

test("what is said after a call and its result is a new answer, also when the one before lacks its line's end", async (t) => {
  const home = new Home(t);
  assert.deepEqual(await home.shown(said("Let me look", true), called("t1", "ls", {}), gave("t1", "a"), said("One.")), [
    { kind: "assistant", text: "Let me look", id: "e1" },
    { kind: "tool", text: "a", tool: "ls", summary: "{}", id: "e2" },
    { kind: "assistant", text: "One.", id: "e4" },
  ]);
});

test("thoughts are kept for exports and never shown", async (t) => {
  const home = new Home(t);
  const entries = await home.chat({ kind: "thought", text: "a\n" }, { kind: "thought", text: "b" }, said("c"));
  assert.deepEqual(
    entries.map((entry) => [entry.kind, "text" in entry && entry.text]),
    [
      ["reasoning", "a\nb"],
      ["assistant", "c"],
    ],
  );
  assert.deepEqual(toItems(entries).length, 1);
});

test("a call is one item with its newest input and name, and its result", async (t) => {
  const home = new Home(t);
  const update = { ...called("t1", "", { command: "ls -l" }), isUpdate: true };
  assert.deepEqual(await home.shown(called("t1", "Terminal", {}), update, gave("t1", "no", true)), [
    { kind: "tool", text: "no", tool: "Terminal", summary: "ls -l", id: "e1", error: true },
  ]);
});

test("an update that gives no input takes none away", async (t) => {
  const home = new Home(t);
  const updates = [{}, undefined, ""].map((input) => ({ ...called("t1", "", input), isUpdate: true }));
  const [item] = await home.shown(called("t1", "ls", { path: "x" }), ...updates);
  assert.equal(item?.summary, "x");
});

test("a call that is open when its turn ends is marked", async (t) => {
  const home = new Home(t);
  const end = { kind: "turn-end", reason: "completed" };
  assert.deepEqual(await home.shown(prompt, called("t1", "ls", { path: "x" }), end), [
    { kind: "user", text: "go", id: "e1" },
    { kind: "tool", tool: "ls", summary: "x", id: "e2", error: true },
  ]);
  const [, item] = await home.shown(prompt, called("t1", "ls", { path: "x" }), gave("t1", null, true), end);
  assert.deepEqual(item, { kind: "tool", tool: "ls", summary: "x", id: "e2", error: true });
});

test("a result is found its call in an earlier turn, and one without a call stands for itself", async (t) => {
  const home = new Home(t);
  assert.deepEqual(await home.shown(called("t1", "ls", { path: "x" }), prompt, gave("t1", "a"), gave("t9", "b")), [
    { kind: "tool", text: "a", tool: "ls", summary: "x", id: "e1" },
    { kind: "user", text: "go", id: "e2" },
    { kind: "tool", text: "b", tool: "result", id: "e4" },
  ]);
});

test("an id that is used again after its result is another call", async (t) => {
  const home = new Home(t);
  const shown = await home.shown(called("t1", "ls", { path: "x" }), gave("t1", "a"), called("t1", "ls", { path: "y" }));
  assert.deepEqual(
    shown.map(({ id, summary }) => [id, summary]),
    [
      ["e1", "x"],
      ["e3", "y"],
    ],
  );
});

test("an update of a former turn's call begins none, so an id announced behind it is a new call wherever reading begins", async (t) => {
  const home = new Home(t);
  const update = { ...called("t1", "", { n: 2 }), isUpdate: true };
  const former = [prompt, called("t1", "ls", { n: 1 }), gave("t1", "a"), prompt, update];
  const result = gave("t1", "b");
  home.write("ses_1", lines([...former, called("t1", "rg", { n: 3 }), prompt, result]));
  const whole = (await home.read("ses_1", BUDGET.bytes)).entries;
  const last = `j:${lines([...former, called("t1", "rg", { n: 3 }), prompt]).length}:0` as Cursor;
  const [late] = (await home.read("ses_1", BUDGET.bytes, last)).entries;
  assert.equal(late?.id, "e6");
  assert.deepEqual(
    whole.find(({ id }) => id === "e6"),
    late,
  );
});

test("a failed turn is told once, whichever of its two records comes first", async (t) => {
  const home = new Home(t);
  const error = { kind: "error", error: { message: "overloaded" } };
  const end = { kind: "turn-end", reason: "error" };
  const item = { kind: "tool", text: "overloaded", tool: "error", error: true };
  assert.deepEqual(await home.shown(error, end), [{ ...item, id: "e1" }]);
  const late = await home.shown(end, error);
  assert.deepEqual(late, [{ ...item, id: "e1" }]);
  assert.deepEqual(
    (await home.shown(prompt, end, prompt, error)).map(({ id }) => id),
    ["e1", "e2", "e3", "e4"],
  );
});

test("ends of a turn that nobody waited for are interruptions, others say nothing", async (t) => {
  const home = new Home(t);
  const reasons = ["completed", "awaiting-input", "cancelled", "aborted", "exited", "max_turns", "other"];
  const shown = await home.shown(...reasons.map((reason) => ({ kind: "turn-end", reason })));
  assert.deepEqual(
    shown.map(({ tool, summary, id }) => [tool, summary, id]),
    [
      ["interrupted", "cancelled", "e3"],
      ["interrupted", "aborted", "e4"],
      ["interrupted", "the agent ended", "e5"],
      ["interrupted", "the most turns were reached", "e6"],
    ],
  );
});

test("images in a result are left out, its text stays", async (t) => {
  const home = new Home(t);
  const data = "A".repeat(4000);
  const blocks = [
    { type: "content", content: { type: "text", text: "seen" } },
    { type: "image", data, mimeType: "image/png" },
  ];
  const texts = async (result: unknown): Promise<unknown> =>
    (await home.shown(called("t1", "look", {}), gave("t1", result)))[0]?.text;
  assert.equal(await texts(blocks), "seen");
  assert.equal(await texts({ content: blocks }), "seen");
  assert.equal(await texts({ shot: data, width: 3 }), '{"width":3}');
  assert.equal(await texts({ stdout: "out", stderr: "err" }), "out\nerr");
});

test("an item that a later page goes on with comes again, grown, under its id", async (t) => {
  const home = new Home(t);
  home.write("ses_1", lines([prompt, said("a\n")]));
  const first = await home.read("ses_1", BUDGET.bytes);
  home.append("ses_1", lines([said("b\n")], 3));
  const second = await home.read("ses_1", BUDGET.bytes, first.next);
  assert.deepEqual(toItems(second.entries), [{ ...toItems(first.entries)[1], text: "a\nb\n" }]);
  assert.deepEqual(
    settled([...first.entries, ...second.entries]).map((entry) => "text" in entry && entry.text),
    ["go", "a\nb\n"],
  );
});

test("the record of an item gives all of it", async (t) => {
  const home = new Home(t);
  home.write("ses_1", lines([prompt, said("a\n"), said("b\n"), { kind: "turn-end", reason: "completed" }]));
  const ref = await home.ref("ses_1");
  const [, item] = toItems((await home.store.entries(ref, START, BUDGET)).entries);
  assert.deepEqual(
    (await home.store.record(ref, item?.ref as Cursor)).map((entry) => "text" in entry && entry.text),
    ["a\nb\n"],
  );
});

test("a text longer than what can be looked back is told in parts, and none of it is lost", async (t) => {
  const home = new Home(t);
  const line = `${"x".repeat(99_999)}\n`;
  const count = 110;
  home.write("ses_1", lines([prompt, ...Array.from({ length: count }, () => said(line))]));
  const whole = settled((await home.read("ses_1", BUDGET.bytes)).entries).slice(1);
  assert.ok(whole.length > 1 && whole.length < 5);
  assert.equal(whole.map((entry) => ("text" in entry ? entry.text : "")).join(""), line.repeat(count));
  // A reader who begins anywhere sees the same parts.
  for (const part of whole) {
    const rest = settled((await home.read("ses_1", BUDGET.bytes, part.pos)).entries);
    assert.deepEqual(
      rest.filter(({ pos }) => pos === part.pos),
      [part],
    );
  }
});

test("numbers that begin anew make no two items of one id", async (t) => {
  const home = new Home(t);
  home.write("ses_1", lines([prompt, said("a")]) + lines([prompt, said("b")]));
  const ids = (await home.read("ses_1", BUDGET.bytes)).entries.map(({ id }) => id);
  assert.deepEqual(ids.slice(0, 2), ["e1", "e2"]);
  assert.equal(new Set(ids).size, 4);
});

test("numbers that are given twice behind a new beginning make no two items of one id", async (t) => {
  const home = new Home(t);
  home.write("ses_1", `${lines([prompt, prompt])}${lines([prompt, prompt])}${lines([prompt], 2)}`);
  const { entries } = await home.read("ses_1", BUDGET.bytes);
  assert.equal(new Set(entries.map(({ id }) => id)).size, 5);
});

test("numbers that fall back to any number make no two items of one id, wherever reading begins", async (t) => {
  const home = new Home(t);
  const five = Array.from({ length: 5 }, () => prompt);
  const content =
    lines(five) + lines(five) + lines(five, 3) + lines(five, 7) + lines(five).replaceAll('"seq":', '"seq": ');
  home.write("ses_1", content);
  const { entries } = await home.read("ses_1", BUDGET.bytes);
  assert.equal(new Set(entries.map(({ id }) => id)).size, 25);
  const other = new Home(t);
  other.write("ses_1", content);
  const ref = await other.ref("ses_1");
  const backward: (string | undefined)[] = [];
  for (let before: Cursor | "tail" | null = "tail"; before !== null; ) {
    const page = await other.store.before(ref, before, { bytes: 300, parts: 200 });
    backward.unshift(...page.entries.map(({ id }) => id));
    before = page.prev;
  }
  assert.deepEqual(
    backward,
    entries.map(({ id }) => id),
  );
});

test("a file that grows is numbered on from where it was looked through, also behind a record longer than a page", async (t) => {
  const home = new Home(t);
  home.write("ses_1", lines([prompt, said("x".repeat(1_200_000)), prompt]));
  const { next } = await home.read("ses_1", BUDGET.bytes);
  home.append("ses_1", lines([prompt, prompt], 3).slice(0, -10));
  const { next: half } = await home.read("ses_1", BUDGET.bytes, next);
  home.append("ses_1", lines([prompt, prompt], 3).slice(-10) + lines([prompt], 4));
  await home.read("ses_1", BUDGET.bytes, half);
  const ids = (await home.read("ses_1", BUDGET.bytes)).entries.map(({ id }) => id);
  assert.equal(new Set(ids).size, 6);
});

test("an empty chunk begins no text, so that a text stands where it has its first character", async (t) => {
  const home = new Home(t);
  const shown = await home.shown(said("", true), called("t1", "ls", {}), gave("t1", "a"), said("", true), prompt);
  assert.deepEqual(
    shown.map(({ id }) => id),
    ["e2", "e5"],
  );
  const [call, text] = await home.shown(said("", true), called("t1", "ls", {}), said("late"));
  assert.deepEqual([call?.id, text?.id], ["e2", "e3"]);
});

test("what is nested deeper than the engine follows is said to be, and stands in nobody's way", async (t) => {
  const home = new Home(t);
  const levels = 20_000;
  const deep = "[".repeat(levels) + "]".repeat(levels);
  const block = `[${'{"type":"content","content":'.repeat(9_000)}"in"${"}".repeat(9_000)}]`;
  const bodies = [called("a", "x", "DEEP"), gave("a", "DEEP"), called("b", "x", {}), gave("b", "BLOCK"), prompt];
  home.write("ses_1", lines(bodies).replaceAll('"DEEP"', deep).replace('"BLOCK"', block));
  const items = toItems((await home.read("ses_1", BUDGET.bytes)).entries);
  assert.deepEqual(
    items.map(({ text }) => text),
    ["(nested too deeply to be shown)", "in", "go"],
  );
});

test("usage is given as it stands, a figure that is not stated is absent", async (t) => {
  const home = new Home(t);
  const snapshot = { kind: "usage_snapshot", tokensIn: 900, costUsd: 0.5, model: "m-1", source: "adapter" };
  const [entry] = await home.chat(snapshot);
  assert.deepEqual(entry?.kind === "usage" && [entry.key, entry.tokens, entry.costUsd, entry.model], [
    "session",
    { input: 900 },
    0.5,
    "m-1",
  ]);
});

test("totals count cumulative figures once, also when they are given twice or begin anew", async (t) => {
  const home = new Home(t);
  const used = (tokensIn: number, more: object = {}): Body => ({
    kind: "usage_update",
    size: 1,
    used: 1,
    tokensIn,
    ...more,
  });
  await home.chat(used(100), used(200), { kind: "usage_snapshot", tokensIn: 200, tokensOut: 7, source: "x" }, used(50));
  const ref = await home.ref("ses_1");
  assert.deepEqual(await home.store.totals(ref), { tokens: { input: 250, output: 7 } });
  home.append("ses_1", lines([used(60, { cost: { amount: 0.25, currency: "USD" } })], 5));
  assert.deepEqual(await home.store.totals(ref), { tokens: { input: 260, output: 7 }, costUsd: 0.25 });
  await home.chat(prompt);
  assert.deepEqual(await home.store.totals(ref), { tokens: {} });
  await home.chat({ ...prompt, text: "Other" }, used(1), used(2));
  assert.deepEqual(await home.store.totals(ref), { tokens: { input: 2 } });
  await home.chat({ ...prompt, text: "Third" }, used(4), used(5), used(6));
  assert.deepEqual(await home.store.totals(ref), { tokens: { input: 6 } });
});

test("a second result of a call stands for itself, and the same one again says nothing new", async (t) => {
  const home = new Home(t);
  const shown = await home.shown(called("t1", "ls", {}), gave("t1", "A"), gave("t1", "A"), gave("t1", "B", true));
  assert.deepEqual(
    shown.map(({ id, tool, text, error }) => [id, tool, text, error]),
    [
      ["e1", "ls", "A", undefined],
      ["e4", "ls", "B", true],
    ],
  );
  const [call, second] = await home.chat(called("t1", "ls", {}), gave("t1", "A"), gave("t1", "B"));
  assert.deepEqual(second?.kind === "tool-result" && [second.callId, second.of], ["t1", call?.pos]);
});

test("what is shown as a call and is none is told apart from calls, and bears no call's id", async (t) => {
  const home = new Home(t);
  const asked = { kind: "agent-prompt", toolCallId: "t1", options: [{ name: "Yes" }] };
  const notices = [asked, { kind: "plan", entries: [] }, { kind: "notice", text: "hm" }];
  const entries = await home.chat(called("t1", "ls", {}), ...notices);
  assert.deepEqual(
    entries.map((entry) => entry.kind === "tool-call" && [entry.tool, entry.isNotice, entry.callId]),
    [
      ["ls", undefined, "t1"],
      ["permission", true, undefined],
      ["plan", true, undefined],
      ["notice", true, undefined],
    ],
  );
});

test("a change of a file among a result's blocks is shown as our own recorder keeps it", async (t) => {
  const home = new Home(t);
  const change = { path: "a.txt", oldText: "x", newText: "y" };
  const text = { type: "content", content: { type: "text", text: "edited" } };
  const [item] = await home.shown(called("t1", "edit", {}), gave("t1", [text, { type: "diff", ...change }]));
  assert.equal(item?.text, `edited\n${JSON.stringify(change)}`);
});

test("what an error says besides its message is shown where it says something", async (t) => {
  const home = new Home(t);
  const texts = async (error: object): Promise<unknown> => (await home.shown({ kind: "error", error }))[0]?.text;
  assert.equal(await texts({ message: "no", data: { details: "why" } }), 'no\n{"details":"why"}');
  assert.equal(await texts({ message: "no", data: "because" }), "no\nbecause");
  for (const data of [{}, [], null, "", "no"]) assert.equal(await texts({ message: "no", data }), "no");
});

test("what is asked without naming a call has no call's id", async (t) => {
  const home = new Home(t);
  const entries = await home.chat({ kind: "agent-prompt", options: [{ optionId: "go", name: "Go on" }] });
  assert.deepEqual(
    entries.map((entry) => [entry.kind, "callId" in entry]),
    [["tool-call", false]],
  );
});

test("a call has the changes of files that its agent told, however they were recorded", async (t) => {
  const home = new Home(t);
  const diff = { path: "/a", oldText: "x", newText: "y" };
  const fresh = { path: "/b", oldText: null, newText: "" };
  const told = async (result: unknown, more: object = {}): Promise<unknown> => {
    const entries = await home.chat(called("t1", "edit", {}), { ...gave("t1", result), ...more });
    const [call] = await home.store.record(await home.ref("ses_1"), entries[0]?.pos ?? START);
    assert.deepEqual(call, entries[0]);
    return call?.kind === "tool-call" ? call.diffs : assert.fail("no call");
  };
  assert.deepEqual(await told(diff), [diff]);
  assert.deepEqual(await told(["done", diff, fresh]), [diff, fresh]);
  assert.deepEqual(await told({ ok: true }, { diffs: [diff] }), [diff]);
  assert.deepEqual(
    await told({
      content: [
        { type: "diff", ...diff },
        { type: "diff", ...fresh },
      ],
    }),
    [diff, fresh],
  );
  assert.deepEqual(await told([{ type: "diff", path: "/b", newText: "" }]), [fresh]);
  for (const other of [null, "text", { path: "/a" }, [7, { newText: "" }], { content: "text" }]) {
    assert.equal(await told(other), undefined);
  }
  assert.equal(await told("text", { diffs: "(cut: it has 20000000 characters)" }), undefined);
});
