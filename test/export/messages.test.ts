import assert from "node:assert/strict";
import { test } from "node:test";
import { MessageBuilder, type MessageOptions } from "../../src/export/messages.ts";
import type { ExportedMessage } from "../../src/export/model.ts";
import type { EpochMs } from "../../src/platform/clock.ts";
import type { Cursor } from "../../src/transcript/cursor.ts";
import type { Entry } from "../../src/transcript/entry.ts";

type Said = Entry extends infer E ? (E extends Entry ? Omit<E, "at" | "pos"> : never) : never;

/** The messages that these make, the first a second past the epoch and each a second later; without their times. */
function messagesOf(said: readonly Said[], options: MessageOptions = { reasoning: false }): object[] {
  const builder = new MessageBuilder(options);
  const built = said.flatMap((each, index) =>
    builder.add({ ...each, at: (index + 1) * 1000, pos: `j:${index}:0` } as Entry),
  );
  return [...built, ...builder.end()].map(({ message }) => message as ExportedMessage & object);
}

const at = (seconds: number): EpochMs => (seconds * 1000) as EpochMs;

test("what an agent thought, said and called at a stretch is one message, and outputs are their own", () => {
  const said: Said[] = [
    { kind: "user", text: "Go" },
    { kind: "reasoning", text: "Hm." },
    { kind: "reasoning", text: "Yes." },
    { kind: "assistant", text: "I look.", model: "m-1" },
    { kind: "tool-call", tool: "Bash", callId: "a", input: { command: "ls" } },
    { kind: "tool-call", tool: "Read", callId: "b", input: { file_path: "/x" } },
    { kind: "usage", key: "k", tokens: { input: 1 } },
    { kind: "tool-result", tool: "Bash", callId: "a", text: "a.txt" },
    { kind: "tool-result", callId: "b", text: "no", isError: true },
    { kind: "assistant", text: "Done." },
    { kind: "assistant", text: "Really." },
  ];
  assert.deepEqual(messagesOf(said, { reasoning: true }), [
    { role: "user", at: at(1), text: "Go" },
    {
      role: "assistant",
      at: at(2),
      reasoning: "Hm.\n\nYes.",
      text: "I look.",
      model: "m-1",
      toolCalls: [
        { id: "a", name: "Bash", input: { command: "ls" } },
        { id: "b", name: "Read", input: { file_path: "/x" } },
      ],
    },
    { role: "tool", at: at(8), toolName: "Bash", toolCallId: "a", text: "a.txt" },
    { role: "tool", at: at(9), toolCallId: "b", text: "no", isError: true },
    { role: "assistant", at: at(10), text: "Done." },
    { role: "assistant", at: at(11), text: "Really." },
  ]);
});

test("thoughts are left out unless they are asked for, and then part nothing", () => {
  const said: Said[] = [
    { kind: "assistant", text: "I look." },
    { kind: "reasoning", text: "Which one?" },
    { kind: "tool-call", tool: "Bash", input: "ls" },
  ];
  const together = [{ role: "assistant", at: at(1), text: "I look.", toolCalls: [{ name: "Bash", input: "ls" }] }];
  assert.deepEqual(messagesOf(said), together);
  assert.deepEqual(messagesOf(said, { reasoning: true }), [
    { role: "assistant", at: at(1), text: "I look." },
    { role: "assistant", at: at(2), reasoning: "Which one?", toolCalls: [{ name: "Bash", input: "ls" }] },
  ]);
});

test("a call that carries its output is followed by it, and one that runs says so", () => {
  const said: Said[] = [
    { kind: "tool-call", tool: "bash", callId: "a", input: {}, summary: "list", output: "a.txt" },
    { kind: "tool-call", tool: "bash", callId: "b", input: {}, isRunning: true },
    { kind: "tool-call", tool: "bash", callId: "c", input: {}, isError: true },
  ];
  assert.deepEqual(messagesOf(said), [
    { role: "assistant", at: at(1), toolCalls: [{ id: "a", name: "bash", input: {}, summary: "list" }] },
    { role: "tool", at: at(1), toolName: "bash", toolCallId: "a", text: "a.txt" },
    { role: "assistant", at: at(2), toolCalls: [{ id: "b", name: "bash", input: {} }] },
    { role: "tool", at: at(2), toolName: "bash", toolCallId: "b", isRunning: true },
    { role: "assistant", at: at(3), toolCalls: [{ id: "c", name: "bash", input: {} }] },
    { role: "tool", at: at(3), toolName: "bash", toolCallId: "c", isError: true },
  ]);
});

test("marks and subagents are messages of the system", () => {
  const subagent = { id: "a1" as never, title: "Look", agent: "claude" as const };
  const said: Said[] = [
    { kind: "subagent", subagent },
    { kind: "marker", marker: "compact", summary: "auto, 9 tokens" },
    { kind: "marker", marker: "compact-summary", text: "So far: …" },
    { kind: "marker", marker: "error", text: "Overloaded\nTry again", summary: "Overloaded", isError: true },
    { kind: "marker", marker: "interrupted" },
  ];
  assert.deepEqual(messagesOf(said), [
    { role: "system", at: at(1), subagent },
    { role: "system", at: at(2), marker: "compact", text: "auto, 9 tokens" },
    { role: "system", at: at(3), marker: "compact-summary", text: "So far: …" },
    { role: "system", at: at(4), marker: "error", text: "Overloaded\nTry again", summary: "Overloaded", isError: true },
    { role: "system", at: at(5), marker: "interrupted" },
  ]);
});

test("a plan, a question for leave and a notice are no calls, and are told in words", () => {
  const plan = {
    title: "Ship",
    plan: [{ content: "Build", status: "completed", priority: "high" }, { content: "Test" }],
  };
  const said: Said[] = [
    { kind: "assistant", text: "I plan." },
    { kind: "tool-call", tool: "plan", isNotice: true, input: plan },
    { kind: "tool-call", tool: "permission", isNotice: true, input: [], summary: "ls: Yes / No", output: "approve" },
    { kind: "tool-call", tool: "notice", isNotice: true, input: "Low on space" },
  ];
  assert.deepEqual(messagesOf(said), [
    { role: "assistant", at: at(1), text: "I plan." },
    { role: "system", at: at(2), marker: "plan", text: "Ship\n- Build (completed, high)\n- Test" },
    { role: "system", at: at(3), marker: "permission", text: "ls: Yes / No: approve" },
    { role: "system", at: at(4), marker: "notice", text: "Low on space" },
  ]);
});

test("inputs and outputs of tools are cut where that is asked for, and nothing else is", () => {
  const said: Said[] = [
    { kind: "assistant", text: "a long answer of the agent" },
    { kind: "tool-call", tool: "Edit", callId: "a", input: { path: "/x", old: "abcdefgh" } },
    { kind: "tool-result", tool: "Edit", callId: "a", text: "abcdefghijkl" },
    { kind: "tool-call", tool: "Edit", callId: "b", input: { n: 1 } },
    { kind: "tool-result", tool: "Edit", callId: "b", text: "abcd" },
  ];
  assert.deepEqual(messagesOf(said, { reasoning: false, maxToolChars: 10 }), [
    {
      role: "assistant",
      at: at(1),
      text: "a long answer of the agent",
      toolCalls: [{ id: "a", name: "Edit", input: '{"path":"…' }],
      cut: true,
    },
    { role: "tool", at: at(3), toolName: "Edit", toolCallId: "a", text: "abcdefghi…", cut: true },
    { role: "assistant", at: at(4), toolCalls: [{ id: "b", name: "Edit", input: { n: 1 } }] },
    { role: "tool", at: at(5), toolName: "Edit", toolCallId: "b", text: "abcd" },
  ]);
});

test("a message says where its first record stands, and a rewind what it takes back", () => {
  const builder = new MessageBuilder({ reasoning: false });
  const entries: Entry[] = [
    { kind: "assistant", text: "a", at: at(1), pos: "j:1:0" as Cursor },
    { kind: "tool-call", tool: "t", input: {}, at: at(2), pos: "j:2:0" as Cursor },
    { kind: "marker", marker: "rewind", takesBack: "j:0:0" as Cursor, at: at(3), pos: "j:3:0" as Cursor },
  ];
  const built = entries.flatMap((entry) => builder.add(entry));
  assert.deepEqual(
    built.map(({ pos, takesBack }) => [pos, takesBack]),
    [
      ["j:1:0", undefined],
      ["j:3:0", "j:0:0"],
    ],
  );
});
