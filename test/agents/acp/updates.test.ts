import assert from "node:assert/strict";
import { test } from "node:test";
import { ToolCalls } from "../../../src/agents/acp/tool-calls.ts";
import { eventsOf, usageFigures } from "../../../src/agents/acp/updates.ts";

const says = (update: unknown, calls = new ToolCalls()) => eventsOf(update, calls, 100);
const chunk = (content: unknown, sessionUpdate = "agent_message_chunk") => ({ sessionUpdate, content });

/** What a run of updates says together. */
function all(...updates: object[]): unknown[] {
  const calls = new ToolCalls();
  return updates.flatMap((update): readonly unknown[] => {
    const events = says(update, calls);
    return "nothing" in events ? [events.nothing] : events;
  });
}

const call = (fields: object) => ({ sessionUpdate: "tool_call", toolCallId: "t", ...fields });
const change = (fields: object) => ({ sessionUpdate: "tool_call_update", toolCallId: "t", ...fields });
const text = (words: string) => ({ type: "content", content: { type: "text", text: words } });

test("text is given out as it stands, and an empty chunk is nothing", () => {
  assert.deepEqual(says(chunk({ type: "text", text: " a\r\n" })), [{ kind: "text-delta", text: " a\r\n" }]);
  assert.deepEqual(says(chunk({ type: "text", text: "x" }, "agent_thought_chunk")), [{ kind: "thought", text: "x" }]);
  assert.deepEqual(says(chunk({ type: "text", text: "" })), []);
  assert.deepEqual(says(chunk({ type: "text", text: "echo" }, "user_message_chunk")), []);
});

test("an image is named with its size, never given out", () => {
  const data = Buffer.alloc(12_345).toString("base64");
  const shown = (content: unknown): unknown => says(chunk(content));
  assert.deepEqual(shown({ type: "image", mimeType: "image/png", data }), [
    { kind: "text-delta", text: "[image image/png, 12345 bytes]" },
  ]);
  assert.deepEqual(shown({ type: "audio", data: "AAAA" }), [{ kind: "text-delta", text: "[audio, 3 bytes]" }]);
  assert.deepEqual(shown({ type: "resource", resource: { uri: "file:///a", blob: "AAA=", mimeType: "a/b" } }), [
    { kind: "text-delta", text: "[resource a/b, 2 bytes]" },
  ]);
  assert.deepEqual(shown({ type: "resource", resource: { uri: "file:///a", text: "words" } }), [
    { kind: "text-delta", text: "words" },
  ]);
  assert.deepEqual(shown({ type: "resource_link", name: "a", uri: "file:///a" }), [
    { kind: "text-delta", text: "[link a file:///a]" },
  ]);
});

test("no image gets into a call's input or output", () => {
  const data = Buffer.alloc(3000).toString("base64");
  const rawOutput = {
    parts: [{ type: "image", source: { type: "base64", media_type: "image/png", data } }],
    url: `data:image/jpeg;base64,${data}`,
    mcp: { type: "image", data, mimeType: "image/gif" },
    note: "data: not one",
  };
  const events = all(call({ title: "Look", status: "completed", rawInput: { url: rawOutput.url }, rawOutput }));
  assert.deepEqual(events, [
    {
      kind: "tool-call",
      toolCallId: "t",
      toolName: "Look",
      arguments: { url: "[data image/jpeg, 3000 bytes]" },
    },
    {
      kind: "tool-result",
      toolCallId: "t",
      result: {
        parts: ["[image image/png, 3000 bytes]"],
        url: "[data image/jpeg, 3000 bytes]",
        mcp: "[image image/gif, 3000 bytes]",
        note: "data: not one",
      },
      isError: false,
    },
  ]);
});

test("a call is announced, changed and ended with the newest that was said of it", () => {
  const events = all(
    call({ title: "Terminal", kind: "execute", status: "pending" }),
    change({ title: "ls", rawInput: { command: "ls" } }),
    change({ status: "in_progress", content: [text("a.txt")] }),
    change({ title: "ls -a" }),
    change({ status: "completed" }),
  );
  assert.deepEqual(events, [
    { kind: "tool-call", toolCallId: "t", toolName: "Terminal", arguments: {} },
    { kind: "tool-call", toolCallId: "t", toolName: "ls", arguments: { command: "ls" }, isUpdate: true },
    { kind: "tool-call", toolCallId: "t", toolName: "ls -a", arguments: { command: "ls" }, isUpdate: true },
    { kind: "tool-result", toolCallId: "t", result: "a.txt", isError: false },
  ]);
});

test("an update of a call's input alone leaves its name out", () => {
  assert.deepEqual(all(call({ title: "Read" }), change({ rawInput: { path: "a" }, kind: "read" }))[1], {
    kind: "tool-call",
    toolCallId: "t",
    toolName: "",
    arguments: { path: "a" },
    isUpdate: true,
  });
});

test("a call has one result, and is not opened again by what comes later", () => {
  const events = all(
    call({ title: "a" }),
    change({ status: "completed", rawOutput: "one" }),
    change({ status: "completed", rawOutput: "two" }),
    change({ title: "b", rawInput: {} }),
  );
  assert.deepEqual(events.slice(1), [{ kind: "tool-result", toolCallId: "t", result: "one", isError: false }]);
});

test("an id may be used again by a later call, and a call announced twice goes on", () => {
  const ended = all(call({ title: "a", status: "failed" }), call({ title: "b", status: "completed" }));
  assert.deepEqual(
    ended.map((event) => (event as { kind: string }).kind),
    ["tool-call", "tool-result", "tool-call", "tool-result"],
  );
  const twice = all(call({ title: "a" }), call({ title: "a b" }));
  assert.deepEqual(twice[1], { kind: "tool-call", toolCallId: "t", toolName: "a b", arguments: {}, isUpdate: true });
});

test("an update that says what an unknown call is begins it; a bare result stands alone", () => {
  assert.deepEqual(all(change({ kind: "edit" })), [
    { kind: "tool-call", toolCallId: "t", toolName: "edit", arguments: {} },
  ]);
  assert.deepEqual(all(change({ status: "failed" })), [
    { kind: "tool-result", toolCallId: "t", result: null, isError: true },
  ]);
});

test("changes of files are kept as such", () => {
  const diff = { type: "diff", path: "/a", oldText: null, newText: "x" };
  const kept = { path: "/a", oldText: null, newText: "x" };
  const result = (content: unknown): unknown =>
    (all(call({ status: "completed", content })) as { result?: unknown }[]).at(-1)?.result;
  assert.deepEqual(result([diff]), kept);
  assert.deepEqual(result([text("done"), { ...diff, oldText: "y" }]), ["done", { ...kept, oldText: "y" }]);
  assert.deepEqual(result([text("a"), text("b")]), "a\nb");
  assert.deepEqual(result([{ type: "terminal", terminalId: "t1" }]), "[terminal t1]");
  assert.deepEqual(result([{ type: "diff", path: "/a" }, 7, null, { type: "content" }]), null);
});

test("changes of files are kept beside what a tool gave back itself", () => {
  const diff = { path: "/a", oldText: "x", newText: "y" };
  const content = [text("done"), { type: "diff", ...diff }];
  const ended = call({ title: "Edit", content, status: "completed", rawOutput: { ok: true } });
  assert.deepEqual(all(ended).at(-1), {
    kind: "tool-result",
    toolCallId: "t",
    result: { ok: true },
    isError: false,
    diffs: [diff],
  });
});

test("what a command prints beside the updates is its result", () => {
  const printed = (data: string, key = "terminal_output_delta") =>
    change({ _meta: { [key]: { data, terminal_id: "t" } } });
  const content = [{ type: "terminal", terminalId: "t" }];
  const events = all(call({ title: "ls", content }), printed("a\n"), printed("b\n"), change({ status: "completed" }));
  assert.deepEqual(events.at(-1), { kind: "tool-result", toolCallId: "t", result: "a\nb\n", isError: false });
  const flood = all(
    call({ title: "yes" }),
    ...Array.from({ length: 300 }, () => printed("y\n".repeat(5000), "terminal_output")),
    change({ status: "completed" }),
  );
  const { result } = flood.at(-1) as { result: string };
  assert.equal(result.length, 1024 * 1024);
  assert.match(result.slice(-3), /…$/);
});

test("a call whose content grows in every update is not forgotten", () => {
  const grown = Array.from({ length: 200 }, () => change({ content: [text("x".repeat(1000))] }));
  const calls = new ToolCalls();
  eventsOf(call({ title: "tail" }), calls, 100);
  for (const update of grown) assert.deepEqual(eventsOf(update, calls, 1024 * 1024), []);
  assert.deepEqual(eventsOf(change({ title: "still" }), calls, 100), [
    { kind: "tool-call", toolCallId: "t", toolName: "still", arguments: {}, isUpdate: true },
  ]);
});

test("a call nested without end is kept as far as it can be written", () => {
  let rawInput: unknown = "deep";
  for (let level = 0; level < 100_000; level++) rawInput = [rawInput];
  const events = all(call({ title: "a", rawInput }));
  assert.match(JSON.stringify(events), /\[nested too deeply\]/);
});

test("open calls that are never ended are forgotten in the end", () => {
  const calls = new ToolCalls();
  for (let i = 0; i < 100_000; i++) {
    eventsOf({ sessionUpdate: "tool_call", toolCallId: `t${i}`, title: "a" }, calls, 1000);
  }
  const events = eventsOf({ sessionUpdate: "tool_call", toolCallId: "t0", title: "a" }, calls, 1000);
  assert.ok(!("nothing" in events) && events[0] !== undefined && !("isUpdate" in events[0]));
});

test("plans, usage and notices", () => {
  const entries = [{ content: "a", priority: "high", status: "completed" }, { content: "b" }, { priority: "low" }, 3];
  assert.deepEqual(says({ sessionUpdate: "plan", entries }), [
    {
      kind: "plan",
      entries: [
        { content: "a", priority: "high", status: "completed" },
        { content: "b", priority: "medium", status: "pending" },
      ],
    },
  ]);
  assert.deepEqual(
    says({ sessionUpdate: "usage_update", used: 300, size: 200, cost: { amount: 0.5, currency: "USD" } }),
    [{ kind: "usage_update", size: 200, used: 200, cost: 0.5 }],
  );
  assert.deepEqual(says({ sessionUpdate: "usage_update", used: 1, size: 2, cost: { amount: 5, currency: "EUR" } }), [
    { kind: "usage_update", size: 2, used: 1 },
  ]);
  assert.deepEqual(says({ sessionUpdate: "usage_update", used: 1, size: 2, cost: null }), [
    { kind: "usage_update", size: 2, used: 1 },
  ]);
  assert.deepEqual(says({ sessionUpdate: "notice", severity: "info", title: "Slow", description: "Very." }), [
    { kind: "notice", text: "Slow: Very." },
  ]);
});

test("updates that say nothing are passed over, each with a reason", () => {
  const reasons = [
    undefined,
    null,
    7,
    "text",
    [],
    {},
    { sessionUpdate: 7 },
    { sessionUpdate: "brand_new" },
    chunk(undefined),
    chunk({ type: "text", text: 7 }),
    chunk({ type: "video" }),
    { sessionUpdate: "tool_call", title: "no id" },
    { sessionUpdate: "tool_call_update", toolCallId: 7 },
    { sessionUpdate: "plan" },
    { sessionUpdate: "usage_update", used: 1 },
    { sessionUpdate: "usage_update", used: "1", size: Number.NaN },
    { sessionUpdate: "notice" },
  ].map((update) => says(update));
  for (const reason of reasons) assert.ok("nothing" in reason && reason.nothing !== "");
  for (const kind of [
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "session_info_update",
  ]) {
    assert.deepEqual(says({ sessionUpdate: kind }), []);
  }
});

test("figures of usage that count nothing are left out, and no more of the window is used than there is", () => {
  for (const odd of [
    { size: 0, used: 0 },
    { size: 10, used: 1.5 },
    { size: 10, used: -1 },
    { size: 2 ** 60, used: 1 },
  ]) {
    assert.ok("nothing" in says({ sessionUpdate: "usage_update", ...odd }), JSON.stringify(odd));
  }
  assert.deepEqual(says({ sessionUpdate: "usage_update", size: 100, used: 500, cost: -1 }), [
    { kind: "usage_update", size: 100, used: 100 },
  ]);
  assert.deepEqual(usageFigures({ inputTokens: -5, outputTokens: 1.5, thoughtTokens: 3 }), { reasoningTokens: 3 });
});

test("usage that is not stated is absent, and stated zeros stay", () => {
  assert.equal(usageFigures(undefined), undefined);
  assert.equal(usageFigures({ totalTokens: 3 }), undefined);
  assert.deepEqual(usageFigures({ inputTokens: 0, outputTokens: null, thoughtTokens: 4, cachedWriteTokens: "7" }), {
    tokensIn: 0,
    reasoningTokens: 4,
  });
});
