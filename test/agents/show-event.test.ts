import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import type { SessionEvent } from "../../src/agents/event.ts";
import { createEventText } from "../../src/agents/show-event.ts";

/** What `events` print, one after the other, with its colours. */
function printed(...events: SessionEvent[]): string {
  const text = createEventText();
  return events.map((event) => text.show(event)).join("");
}

const plain = (...events: SessionEvent[]): string => stripVTControlCharacters(printed(...events));
const say = (text: string): SessionEvent => ({ kind: "text-delta", text });
const think = (text: string): SessionEvent => ({ kind: "thought", text });
const call = (toolName: string, input: unknown, isUpdate?: true): SessionEvent => ({
  kind: "tool-call",
  toolCallId: "t1",
  toolName,
  arguments: input,
  ...(isUpdate && { isUpdate }),
});
const result = (value: unknown, isError = false): SessionEvent => ({
  kind: "tool-result",
  toolCallId: "t1",
  result: value,
  isError,
});
const END: SessionEvent = { kind: "turn-end", reason: "completed" };

test("a turn is shown in the order in which it happened", () => {
  assert.equal(
    plain(
      { kind: "user-prompt", text: "Count the files\nin here" },
      think("Need a "),
      think("listing.\n"),
      say("Let me look"),
      call("Terminal", {}),
      call("ls", { command: "ls -la" }, true),
      result("\n a.txt\nb.txt"),
      say("There are\n\n2 "),
      say("files."),
      { kind: "usage_update", size: 10, used: 5 },
      say("\n"),
      END,
    ),
    [
      "❯ Count the files",
      "  in here",
      "Need a listing.",
      "Let me look",
      "● ls ls -la",
      "  └ a.txt",
      "There are",
      "",
      "2 files.",
      "── completed ──",
      "",
    ].join("\n"),
  );
});

test("text is shown as it comes, its newlines neither doubled nor lost", () => {
  const chunks = ["a", "\n", "\n\n", "b\n", "c"];
  const text = createEventText();
  assert.deepEqual(
    chunks.map((chunk) => text.show(say(chunk))),
    chunks,
  );
  assert.equal(stripVTControlCharacters(text.show(END)), "\n── completed ──\n");
  assert.equal(text.show(say("next")), "next");
});

test("thoughts are dim, errors red, and what ends a turn badly is seen", () => {
  assert.equal(printed(think("hm")), "\u001b[2mhm\u001b[22m");
  assert.equal(printed({ kind: "error", error: { message: "no\nroom" } }), "\u001b[31merror: no room\u001b[39m\n");
  assert.equal(printed({ kind: "turn-end", reason: "exited" }), "\u001b[33m── exited ──\u001b[39m\n");
  assert.equal(printed(result("bad\nmore", true)), "  \u001b[31m✗ bad\u001b[39m\n");
  assert.equal(printed(result(null, true)), "  \u001b[31m✗ no result\u001b[39m\n");
});

test("a call is one line; an input that grows is shown when it first tells something, and as it was in the end", () => {
  assert.equal(
    plain(call("Read", { path: "a.ts" }), call("", { path: "a.ts" }, true), result("text")),
    "● Read a.ts\n  └ text\n",
  );
  const growing = ["l", "ls", "ls -", "ls -la"].map((command) => call("", { command }, true));
  assert.equal(plain(call("Bash", {}), ...growing, result("x")), "● Bash l\n● Bash ls -la\n  └ x\n");
  assert.equal(plain(call("List", undefined)), "● List\n");
  assert.equal(plain(call("Wait", {}), say("meanwhile")), "● Wait\nmeanwhile");
  assert.equal(plain(call("Wait", {}), END), "● Wait\n── completed ──\n");
});

test("a result is one line, whatever it is made of", () => {
  const blocks = [{ type: "content", content: { type: "text", text: "from a block\nand more" } }];
  assert.equal(plain(result(blocks)), "  └ from a block\n");
  assert.equal(plain(result({ ok: true })), '  └ {"ok":true}\n');
  assert.equal(plain(result("")), "  └ done\n");
  const long = plain(result("x".repeat(5_000_000)));
  assert.ok(long.length < 220 && long.endsWith("…\n"));
  let deep: unknown = "end";
  for (let level = 0; level < 100_000; level++) deep = [deep];
  assert.equal(plain(call("Deep", deep), result(deep)), "● Deep\n  └ done\n");
});

test("a question is shown with the call that it is about and its options, and then how it was answered", () => {
  const options = [
    { optionId: "yes", name: "Allow once", kind: "allow_once" },
    { optionId: "no", name: "Reject", kind: "reject_once" },
  ];
  assert.equal(
    plain(
      say("I will"),
      call("Bash", {}),
      call("", { command: "rm x" }, true),
      { kind: "agent-prompt", toolCallId: "t1", options },
      { kind: "permission-resolved", toolCallId: "t1", decision: "deny", optionId: "no" },
      { kind: "permission-resolved", toolCallId: "t1", decision: "cancelled" },
    ),
    [
      "I will",
      "● Bash rm x",
      "? The agent asks for permission:",
      "  yes  Allow once allow_once",
      "  no  Reject reject_once",
      "  denied (no)",
      "  not answered",
      "",
    ].join("\n"),
  );
});

test("a plan is shown step by step, a notice as a line", () => {
  const step = (content: string, status: string) => ({ content, status, priority: "high" });
  assert.equal(
    plain(
      {
        kind: "plan",
        title: "To do",
        entries: [step("one", "completed"), step("two", "in_progress"), step("three", "constructor")],
      },
      { kind: "notice", text: "compacted" },
    ),
    "To do\n  ● one\n  ◐ two\n  ○ three\ncompacted\n",
  );
});

test("nothing that an agent says acts on the terminal, wherever it is cut", () => {
  const evil = "x\u001b[2J\u001b]0;title\u0007\u009b31m\u202e\r\ny\u001b[31m\u0007\u0000z\u{e0041}";
  const options = [{ optionId: evil, name: evil, kind: evil }];
  for (let cut = 0; cut <= evil.length; cut++) {
    const shown = plain(
      { kind: "user-prompt", text: evil },
      say(evil.slice(0, cut)),
      say(evil.slice(cut)),
      think(evil.slice(0, cut)),
      think(evil.slice(cut)),
      call(evil, { command: evil }),
      { kind: "agent-prompt", toolCallId: "t1", options },
      { kind: "permission-resolved", toolCallId: "t1", decision: "approve", optionId: evil },
      result(evil),
      { kind: "plan", title: evil, entries: [{ content: evil, status: evil, priority: evil }] },
      { kind: "notice", text: evil },
      { kind: "error", error: { message: evil } },
      END,
    );
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there.
    assert.doesNotMatch(shown, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e\u{e0000}-\u{e007f}]/u, `${cut}`);
    assert.equal(shown.split("x\nyz").length - 1, 2, "text and thought are shown whole");
  }
});

test("a session of any length takes no more and more memory: calls without a result are forgotten", () => {
  const text = createEventText();
  for (let index = 0; index < 10_000; index++) {
    text.show({ kind: "tool-call", toolCallId: `t${index}`, toolName: "Wait", arguments: {} });
  }
  assert.equal(text.show(END).split("● Wait").length - 1, 256);
});
