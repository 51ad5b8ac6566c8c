import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import markdownIt from "markdown-it";
import { markdownWriter } from "../../src/export/markdown.ts";
import type { ExportedMessage } from "../../src/export/model.ts";
import { epochMsFromIso } from "../../src/platform/clock.ts";
import { readable, readableLine } from "../../src/transcript/printable.ts";
import { documentOf, META, SUBAGENT } from "../support/exported.ts";
import { FIELDS, type Field, PIECES } from "../support/hostile.ts";
import { tagsOf, textOf } from "../support/markup.ts";

const RENDERERS = (["default", "commonmark"] as const).flatMap((preset) =>
  [false, true].map((html) => markdownIt(preset, { html, linkify: true, typographer: false })),
);
// Of that preset, only the rule is missing.
for (const renderer of RENDERERS) renderer.enable(["linkify", "table", "strikethrough"]);

/** What a rendered document is made of: its tags, save that words may stand in a code span, and its text. */
function shape(html: string): { tags: string; text: string } {
  const spans = html.replace(/(<pre>)?<code\b[^>]*>|<\/code>(<\/pre>)?/g, (_tag, pre = "", end = "") => pre + end);
  return { tags: tagsOf(spans).join(""), text: textOf(spans) };
}

/** Texts as they come out of a file of UTF-8. */
const written = (text: string): string => Buffer.from(text).toString();

function markdownOf(field: Field, text: string): string {
  const { meta, messages } = field.make(text);
  return written(documentOf(markdownWriter(), meta, messages));
}

/** Asserts that `text` in that field renders as that text, in the document that any other text gives. */
function assertInert(field: Field, text: string): void {
  const shown = written(field.isLine ? readableLine(text) : readable(text).replace(/\n$/, ""));
  if (readable(text) === "" || (shown === "" && field.isLine)) return;
  const [hostile, benign] = [markdownOf(field, text), markdownOf(field, "Benign")];
  for (const renderer of RENDERERS) {
    const wanted = shape(renderer.render(benign));
    const got = shape(renderer.render(hostile));
    assert.equal(got.tags, wanted.tags, hostile);
    assert.equal(
      got.text,
      wanted.text.replace("Benign", () => shown),
      hostile,
    );
  }
}

for (const field of FIELDS) {
  test(`${field.name} renders as that very text and nothing more`, () => {
    for (const piece of PIECES) {
      for (const text of [piece, `a ${piece} b`, `${piece}${piece}`, `a\n${piece}\nb`]) assertInert(field, text);
    }
  });
}

test("any text renders as that very text, wherever it stands", () => {
  const texts = fc.array(
    fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...PIECES) }, fc.string({ unit: "binary" })),
    {
      minLength: 1,
      maxLength: 8,
    },
  );
  fc.assert(
    fc.property(fc.constantFrom(...FIELDS), texts, (field, pieces) => assertInert(field, pieces.join(""))),
    { numRuns: 2_000 },
  );
});

const at = epochMsFromIso("2026-11-30T09:24:05.678Z");

test("a document begins with its title and what is known, and shows each message under a heading", () => {
  const messages: ExportedMessage[] = [
    { role: "user", at, text: "Why does it fail?" },
    {
      role: "assistant",
      at,
      model: "opus 4",
      reasoning: "Let me see.",
      text: "I look:\n",
      toolCalls: [
        { name: "Bash", input: { command: "npm test\nnpm run lint", timeout: 5 } },
        { name: "Read", input: { file_path: "a.ts" } },
      ],
    },
    { role: "tool", toolName: "Bash", text: "1 failed\n", isError: true },
    { role: "tool", toolName: "Read", text: "" },
    { role: "system", marker: "compact", summary: "automatic" },
    { role: "system", marker: "interrupted", text: "by the user" },
    { role: "system", marker: "command", text: "done" },
  ];
  const meta = {
    ...META,
    title: "Fix the login test",
    model: "opus 4",
    cwd: "/home/me/app",
    startedAt: at,
    messageCount: 1_234,
    tokens: { input: 12_345, cacheRead: 0 },
    costUsd: 0.0421,
  };
  assert.equal(
    documentOf(markdownWriter(), meta, messages),
    `# Fix the login test

- Agent: claude
- Session: s1
- Folder: \`/home/me/app\`
- Model: opus 4
- Started: 2026-11-30 09:24:05 UTC
- Messages: 1,234
- Tool calls: 0
- Tokens: 12,345 input, 0 read from the cache
- Cost: $0.042
- Source: the agent's own records

## User · 2026-11-30 09:24:05 UTC

\`\`\`text
Why does it fail?
\`\`\`

## Assistant · opus 4 · 2026-11-30 09:24:05 UTC

<details>
<summary>Reasoning</summary>

\`\`\`text
Let me see.
\`\`\`

</details>

\`\`\`markdown
I look:
\`\`\`

**Tool call:** Bash — npm test npm run lint

\`\`\`json
{"timeout":5}
\`\`\`

command:

\`\`\`
npm test
npm run lint
\`\`\`

**Tool call:** Read — \`a.ts\`

## Tool error: Bash

\`\`\`
1 failed
\`\`\`

## Tool output: Read

Nothing was printed.

## Context compacted

automatic

## Interrupted

by the user

## Command output

\`\`\`
done
\`\`\`
`,
  );
});

test("a subagent's messages are folded under deeper headings, six at most", () => {
  const inner = (levels: number): ExportedMessage => ({
    role: "system",
    subagent: { ...SUBAGENT, title: `Level ${levels}`, messages: levels === 0 ? [] : [inner(levels - 1)] },
  });
  const text = documentOf(markdownWriter(), META, [inner(6)]);
  assert.deepEqual(text.match(/^#+(?= Subagent)/gm), ["##", "###", "####", "#####", "######", "######", "######"]);
  assert.equal(text.match(/^<details>\n<summary>Its messages<\/summary>$/gm)?.length, 7);
  assert.equal(text.match(/^<\/details>$/gm)?.length, 7);
});

test("turns that were taken back are folded as one", () => {
  const text = documentOf(markdownWriter(), META, [
    { role: "user", text: "one", takenBack: true },
    { role: "assistant", text: "two", takenBack: true },
    { role: "system", marker: "rewind", summary: "1 turn" },
  ]);
  assert.match(
    text,
    /<summary>2 messages that were taken back<\/summary>\n\n## User\n[\s\S]*two\n```\n\n<\/details>\n\n## Turns/,
  );
});

test("what is running and what was cut is said", () => {
  const text = documentOf(markdownWriter(), META, [{ role: "tool", text: "so far", isRunning: true, cut: true }]);
  assert.match(text, /## Tool output\n\n```\nso far\n```\n\nStill running: there may be more\. Cut, as was asked\.\n$/);
});

test("an input that is nested deeply, or long, is not made many times as long by indentation", () => {
  let deep: unknown = 1;
  for (let level = 0; level < 5_000; level++) deep = [deep];
  const calls = [
    { name: "A", input: deep },
    { name: "B", input: Array(60_000).fill(1) },
  ];
  const text = documentOf(markdownWriter(), META, [{ role: "assistant", toolCalls: calls }]);
  assert.equal(text.length < 135_000, true);
});

test("a chat without messages says so", () => {
  assert.match(documentOf(markdownWriter(), { ...META, messageCount: 0 }, []), /\n\nThere are no messages\.\n$/);
});
