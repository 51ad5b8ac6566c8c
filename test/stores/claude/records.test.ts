import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { EpochMs } from "../../../src/platform/clock.ts";
import { toEntries } from "../../../src/stores/claude/records.ts";
import { readUserText } from "../../../src/stores/claude/user-text.ts";
import type { Cursor } from "../../../src/transcript/cursor.ts";
import { toItems } from "../../../src/transcript/item.ts";

const place = { pos: "j:0:0" as Cursor, fallbackAt: () => 7 as EpochMs };

/** Values in the shapes of records, with any of them in the place of any other. */
const { value } = fc.letrec<{ value: unknown; object: object }>((tie) => ({
  value: fc.oneof(
    { depthSize: "medium" },
    fc.constantFrom<unknown>(
      ...["user", "assistant", "system", "attachment", "text", "tool_use", "tool_result", "thinking", "image"],
      ...["queued_command", "compact_boundary", "local_command", "api_error", "<command-name>/x</command-name>"],
      ...[
        "[Request interrupted by user]",
        "<bash-input>",
        "</system-reminder>",
        "<synthetic>",
        "",
        null,
        true,
        0,
        -1,
        1e300,
      ],
    ),
    fc.string(),
    fc.array(tie("value"), { maxLength: 3 }),
    tie("object"),
  ),
  object: fc.dictionary(
    fc.constantFrom(
      ...[
        "type",
        "subtype",
        "message",
        "content",
        "text",
        "id",
        "name",
        "input",
        "usage",
        "model",
        "timestamp",
        "isMeta",
      ],
      ...["tool_use_id", "is_error", "toolUseResult", "attachment", "prompt", "commandMode", "origin", "kind", "error"],
      ...["isCompactSummary", "isApiErrorMessage", "parentUuid", "thinking", "compactMetadata", "input_tokens", "uuid"],
    ),
    tie("value"),
    { maxKeys: 6 },
  ),
}));

test("no record, whatever its shape, is more than the reader can take", () => {
  const record = fc.tuple(fc.constantFrom("user", "assistant", "system", "attachment"), value, value);
  const property = fc.property(record, ([type, content, rest]) => {
    const fields = typeof rest === "object" && !Array.isArray(rest) ? rest : {};
    for (const given of [content, { type, message: { content } }, { ...fields, type }, { type, attachment: content }]) {
      for (const entry of toEntries(given, place)) assert.ok(Number.isFinite(entry.at) && entry.pos === place.pos);
      assert.doesNotThrow(() => JSON.stringify(toItems(toEntries(given, place))));
    }
  });
  const details = fc.check(property, { numRuns: 3_000 });
  assert.ok(
    !details.failed,
    `seed ${details.seed}: ${details.errorInstance}\n${JSON.stringify(details.counterexample)}`,
  );
});

test("an answer's line tells its text, its model and its usage", () => {
  const usage = {
    input_tokens: 3,
    output_tokens: "120",
    cache_read_input_tokens: 5000,
    cache_creation_input_tokens: null,
  };
  const message = { id: "msg_1", model: "m", content: [{ type: "text", text: "hi" }], usage };
  assert.deepEqual(toEntries({ type: "assistant", timestamp: 5, message }, place), [
    { kind: "assistant", text: "hi", model: "m", at: 5, pos: "j:0:0" },
    {
      kind: "usage",
      key: "msg_1",
      model: "m",
      tokens: { input: 3, output: 120, cacheRead: 5000 },
      at: 5,
      pos: "j:0:0",
    },
  ]);
});

test("what was thought is an entry, and no item", () => {
  const message = { content: [{ type: "thinking", thinking: "let me see", signature: "x" }] };
  const entries = toEntries({ type: "assistant", message }, place);
  assert.deepEqual(entries, [{ kind: "reasoning", text: "let me see", at: 7, pos: "j:0:0" }]);
  assert.deepEqual(toItems(entries), []);
});

test("the client's own answers and API errors count no usage", () => {
  const message = {
    id: "msg_1",
    model: "<synthetic>",
    content: [{ type: "text", text: "x" }],
    usage: { input_tokens: 0 },
  };
  assert.deepEqual(
    [
      { type: "assistant", message },
      { type: "assistant", message, isApiErrorMessage: true },
    ].flatMap((record) => toEntries(record, place).map(({ kind }) => kind)),
    ["assistant", "marker"],
  );
});

test("a text with reminders without end is read in the time of its length", () => {
  const block = "<system-reminder>be brief</system-reminder>\n";
  assert.deepEqual(readUserText(block.repeat(20_000)), { kind: "hidden" });
  assert.deepEqual(readUserText(`${block.repeat(20_000)}hi${block.repeat(20_000)}`), { kind: "prompt", text: "hi" });
  assert.equal(readUserText("<system-reminder>".repeat(200_000)).kind, "hidden");
});

/** What a chat shows of `record`: kind or tool, and text. */
function shownOf(record: object): string[] {
  return toItems(toEntries(record, place)).map(({ kind, tool, text }) => `${tool ?? kind}: ${text}`);
}

const userLine = (content: string, more: object = {}): object => ({ type: "user", message: { content }, ...more });

test("what a local command printed is the command's also without its wrapper", () => {
  const local = (content: string): string[] => shownOf({ type: "system", subtype: "local_command", content });
  assert.deepEqual(local("Set model to opus"), ["command: Set model to opus"]);
  assert.deepEqual(local("<local-command-stdout>done</local-command-stdout>"), ["command: done"]);
  assert.deepEqual(local("<command-name>/cost</command-name>"), ["user: /cost"]);
});

test("a `!` command and its output in one record are both shown", () => {
  const text = "<bash-input>ls</bash-input>\n<bash-stdout>a.txt</bash-stdout><bash-stderr>b</bash-stderr>";
  assert.deepEqual(shownOf(userLine(text)), ["user: !ls", "bash: a.txt\nb"]);
  assert.deepEqual(shownOf(userLine("<bash-input>true</bash-input><bash-stdout></bash-stdout>")), ["user: !true"]);
});

test("what a record says that nobody typed is not the user's", () => {
  for (const more of [
    { turnCompanion: true },
    { teamName: "builders" },
    { origin: { kind: "coordinator" } },
    { origin: { kind: "task-notification" } },
    { promptSource: "system" },
  ]) {
    assert.deepEqual(shownOf(userLine("do it", more)), [], JSON.stringify(more));
  }
  assert.deepEqual(shownOf(userLine("do it", { origin: { kind: "human" }, promptSource: "queued" })), ["user: do it"]);
  assert.deepEqual(shownOf(userLine("do it", { teamName: "builders", isSidechain: true })), ["user: do it"]);
});

test("reminders inside a prompt are taken out of it, and the word is left where it was typed", () => {
  const typed = (text: string): unknown => readUserText(text);
  const reminder = "<system-reminder>be brief</system-reminder>";
  assert.deepEqual(typed(`hi ${reminder} there`), { kind: "prompt", text: "hi there" });
  assert.deepEqual(typed(`hi\n${reminder}\nyou\n${reminder}`), { kind: "prompt", text: "hi\nyou" });
  const question = "what does <system-reminder> do?";
  assert.deepEqual(typed(question), { kind: "prompt", text: question });
  assert.equal(readUserText(`hi ${"<system-reminder>".repeat(100_000)}`).kind, "prompt");
  assert.deepEqual(typed(`hi ${reminder.repeat(20_000)} you`), { kind: "prompt", text: "hi you" });
});

test("a reminder that quotes reminders is taken away whole, and words around it stay", () => {
  const typed = (text: string): unknown => readUserText(text);
  const quoting = "<system-reminder>CLAUDE.md: <system-reminder>x</system-reminder> rules</system-reminder>";
  assert.deepEqual(typed(`${quoting}\nhi`), { kind: "prompt", text: "hi" });
  assert.deepEqual(typed(`hi\n${quoting}`), { kind: "prompt", text: "hi" });
  assert.deepEqual(typed(`hi\n${quoting}\nyou`), { kind: "prompt", text: "hi\nyou" });
  assert.deepEqual(typed(quoting), { kind: "hidden" });
  const half = "<system-reminder>the <system-reminder> tag</system-reminder>";
  assert.deepEqual(typed(`${half}hi`), { kind: "prompt", text: "hi" });
  assert.deepEqual(typed(`${half}\nhi\n<system-reminder>b</system-reminder>`), { kind: "prompt", text: "hi" });
  const many = "<system-reminder><ide_selection>".repeat(50_000);
  assert.deepEqual(typed(`hi\n${many}</system-reminder>`), { kind: "prompt", text: "hi" });
  assert.equal(
    readUserText(`hi ${"<system-reminder></system-reminder>".repeat(50_000)}<system-reminder>`).kind,
    "prompt",
  );
});

for (const text of [
  "<command-name>/clear</command-name> is what stands there, why?",
  "<bash-input>ls</bash-input> is what stands there",
  "<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>\nis all I see",
  "<local-command-stdout>Bye!</local-command-stdout>\nis all I see",
]) {
  test(`words behind a wrapper are not lost: ${text.slice(0, 24)}`, () => {
    assert.deepEqual(readUserText(text), { kind: "prompt", text });
  });
}

test("an element that is not known may stand behind a slash command's", () => {
  const text =
    "<command-message>pdf</command-message>\n<command-name>/pdf</command-name>\n<skill-format>true</skill-format>";
  assert.deepEqual(readUserText(text), { kind: "prompt", text: "/pdf", command: "slash" });
});

test("a compaction's summary that an older release marks with nothing but its words is not the user's", () => {
  const text = "This session is being continued from a previous conversation that ran out of context. It was about x.";
  assert.deepEqual(shownOf(userLine(text, { parentUuid: null })), ["compact: undefined"]);
  assert.deepEqual(shownOf(userLine(text, { parentUuid: "b1" })), []);
  assert.deepEqual(shownOf(userLine("This session is being continued, right?")), [
    "user: This session is being continued, right?",
  ]);
});

const LINK = "\u001b]8;;https://x.org\u0007link\u001b]8;;\u0007 \u001b[31mred\u001b[0m";

for (const [name, record, kind] of [
  [
    "a tool's output",
    { type: "user", message: { content: [{ type: "tool_result", tool_use_id: "t", content: LINK }] } },
    "tool-result",
  ],
  [
    "the output of a ! command",
    { type: "user", message: { content: `<bash-stdout>${LINK}</bash-stdout><bash-stderr></bash-stderr>` } },
    "tool-result",
  ],
  [
    "what a command printed",
    { type: "user", message: { content: `<local-command-stdout>${LINK}</local-command-stdout>` } },
    "marker",
  ],
  [
    "an API error",
    { type: "assistant", isApiErrorMessage: true, message: { content: [{ type: "text", text: LINK }] } },
    "marker",
  ],
] as const) {
  test(`${name} keeps its escape sequences for exports, and is shown without them`, () => {
    const entries = toEntries(record, place);
    assert.deepEqual(
      entries.map((entry) => [entry.kind, "text" in entry && entry.text]),
      [[kind, LINK]],
    );
    assert.deepEqual(
      toItems(entries).map(({ text }) => text),
      ["link red"],
    );
  });
}

test("what printed nothing but colours shows nothing", () => {
  const colours = "\u001b[31m\u001b[0m";
  for (const content of [
    `<local-command-stdout>${colours}</local-command-stdout>`,
    `<local-command-stdout>${colours}(no content)</local-command-stdout>`,
  ]) {
    assert.deepEqual(toEntries({ type: "user", message: { content } }, place), []);
  }
  const content = `<bash-input>ls</bash-input><bash-stdout>${colours}</bash-stdout><bash-stderr></bash-stderr>`;
  assert.deepEqual(
    toEntries({ type: "user", message: { content } }, place).map(({ kind }) => kind),
    ["user"],
  );
});
