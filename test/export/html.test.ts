import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { htmlWriter } from "../../src/export/html.ts";
import type { ExportedMessage } from "../../src/export/model.ts";
import { epochMsFromIso } from "../../src/platform/clock.ts";
import { readable, readableLine } from "../../src/transcript/printable.ts";
import { documentOf, META, SUBAGENT } from "../support/exported.ts";
import { FIELDS, type Field, PIECES } from "../support/hostile.ts";
import { tagsOf, textOf } from "../support/markup.ts";

function htmlOf(field: Field, text: string): string {
  const { meta, messages } = field.make(text);
  return documentOf(htmlWriter(), meta, messages);
}

const pageOf = (...messages: ExportedMessage[]): string => documentOf(htmlWriter(), META, messages);

/** The elements of Markdown, and their attributes besides those of every page. */
const ANSWER_TAG =
  /^<(?:\/?(?:p|h[3-6]|ul|ol|li|blockquote|table|thead|tbody|tr|th|td|em|strong|s|code|pre)|br|hr)>$|^<(?:ol start="\d+"|code data-lang="[\w+#.-]+"|t[hd] align="(?:left|center|right)"|td colspan="\d+"|input type="checkbox" disabled(?: checked)?)>$|^<a href="(?:https?:\/\/|mailto:)[^"<>]*"(?: title="[^"<>]*")? rel="noopener noreferrer nofollow">$|^<\/a>$/;

/** Asserts that `text` in that field adds no tag to the page, save those that Markdown has in an answer. */
function assertInert(field: Field, text: string): void {
  if (readableLine(text) === "") return;
  const shown = field.isLine ? readableLine(text) : readable(text);
  const [hostile, benign] = [htmlOf(field, text), htmlOf(field, "Benign")];
  if (field.name === "an answer") {
    const around = new Set(tagsOf(benign));
    assert.deepEqual(
      tagsOf(hostile).filter((tag) => !around.has(tag) && !ANSWER_TAG.test(tag)),
      [],
    );
    return;
  }
  assert.deepEqual(tagsOf(hostile), tagsOf(benign), hostile);
  assert.equal(textOf(hostile).includes(shown), true, hostile);
}

for (const field of FIELDS) {
  test(`${field.name} adds nothing to the page but its text`, () => {
    for (const piece of PIECES) {
      for (const text of [piece, `a ${piece} b`, `a\n${piece}\nb`]) assertInert(field, text);
    }
  });
}

test("any text adds nothing to the page but itself, wherever it stands", () => {
  const texts = fc.array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: "binary" })), { maxLength: 8 });
  fc.assert(
    fc.property(fc.constantFrom(...FIELDS), texts, (field, pieces) => assertInert(field, pieces.join(""))),
    { numRuns: 1_000 },
  );
});

test("the page may load and run nothing, and its policy knows its style", () => {
  const writer = htmlWriter();
  const page = documentOf(writer, META, []);
  const style = /<style>([^<]*)<\/style>/.exec(page)?.[1] ?? "";
  const hash = createHash("sha256").update(style).digest("base64");
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  assert.equal(page.includes(`<meta http-equiv="Content-Security-Policy" content="${policy}">`), true);
  assert.equal(writer.headers?.["Content-Security-Policy"], `${policy}; frame-ancestors 'none'; sandbox`);
  assert.equal(page.includes('<meta name="referrer" content="no-referrer">'), true);
  assert.doesNotMatch(page, /<script|\bsrc=|\bon\w+=|\bstyle=|url\(|@import/);
});

test("each message is whole by itself: every element that begins in it ends in it", () => {
  const writer = htmlWriter();
  for (const field of FIELDS) {
    for (const message of field.make("<b>a</b> **b** [c](http://d.example)\n\n- e").messages) {
      const piece = writer.message(message, { depth: 0, isFirst: true });
      const open: string[] = [];
      for (const tag of tagsOf(piece)) {
        const name = /^<\/?([a-z0-9]+)/.exec(tag)?.[1] ?? "";
        if (tag.startsWith("</")) assert.equal(open.pop(), name, piece);
        else if (!["br", "hr", "input"].includes(name)) open.push(name);
      }
      assert.deepEqual(open, []);
    }
  }
});

const at = epochMsFromIso("2026-11-30T09:24:05.678Z");

test("the page says what is known of the session and leaves out what is not", () => {
  const page = documentOf(htmlWriter(), { ...META, title: "A & B", startedAt: at, messageCount: 0 }, []);
  assert.match(page, /<title>A &#38; B<\/title>/);
  assert.match(page, /<h1><bdi lang="">A &#38; B<\/bdi><\/h1>/);
  assert.deepEqual(
    [...page.matchAll(/<dt>([^<]*)<\/dt><dd>(.*)<\/dd>/g)].map(([, label, value]) => [label, textOf(value ?? "")]),
    [
      ["Agent", "claude"],
      ["Session", "s1"],
      ["Started", "2026-11-30 09:24:05 UTC"],
      ["Messages", "0"],
      ["Tool calls", "0"],
      ["Source", "the agent's own records"],
    ],
  );
  assert.match(page, /<time datetime="2026-11-30T09:24:05\.678Z">2026-11-30 09:24:05 UTC<\/time>/);
  assert.match(page, /There are no messages\./);
});

test("a tool call is one line that unfolds to its input, texts of several lines as they are", () => {
  const input = { file_path: "a.ts", content: "one\n<two>\n" };
  const page = pageOf({ role: "assistant", toolCalls: [{ name: "Write", input }] });
  const [, line = "", content = ""] =
    /<details class="fold call"><summary[^>]*>(.*?)<\/summary>([\s\S]*?)<\/details>/u.exec(page) ?? [];
  assert.equal(textOf(line), "Write a.ts");
  assert.equal(textOf(content), '\n{"file_path":"a.ts"}content\none\n<two>\n');
});

test("an output is one line that unfolds to the whole, and an error is marked by a word too", () => {
  const output = (message: Partial<ExportedMessage>): string => {
    const page = pageOf({ role: "tool", toolName: "Bash", ...message });
    return textOf(/<div class="line">(.*)<\/div>|<summary class="line">(.*)<\/summary>/.exec(page)?.[0] ?? "");
  };
  assert.equal(output({ text: "\n\u001b[31m\nfirst\u001b[0m\nsecond" }), "Tool output Bash first");
  assert.equal(output({ text: "failed", isError: true }), "Tool error Bash failed");
  assert.equal(output({ text: "" }), "Tool output Bash nothing was printed");
  assert.equal(output({ text: " \n" }), "Tool output Bash blank");
  assert.match(pageOf({ role: "tool", text: "a", isRunning: true }), /Still running: there may be more\./);
});

test("what a user says is shown as it was typed, not as Markdown", () => {
  assert.match(
    pageOf({ role: "user", text: "**a**\n  b" }),
    /<div class="text" lang="" dir="auto">\*\*a\*\*\n {2}b<\/div>/,
  );
});

test("subagents and turns that were taken back are folded, their headings deeper by one", () => {
  const page = pageOf(
    { role: "system", subagent: { ...SUBAGENT, title: "Look", messages: [{ role: "user", text: "go" }] } },
    { role: "user", text: "wrong", takenBack: true },
    { role: "system", marker: "rewind", summary: "1 turn" },
  );
  assert.match(
    page,
    /<details class="fold agent"><summary class="line"><h2>.*Look.*<\/h2><\/summary>[\s\S]*?<h3>User<\/h3>/u,
  );
  assert.match(page, /<summary class="line"><span class="kind">1 message that was taken back<\/span><\/summary>/);
  assert.equal(page.split("<details").length, page.split("</details>").length);
});

test("a message that would be longer than any text can be is cut, and says so in its place", () => {
  const page = (message: ExportedMessage): string => documentOf(htmlWriter(6_000), META, [message]);
  const told = "500 more characters are too many for a page: export it as Markdown or JSON.";
  const long = "<".repeat(1_500);
  for (const message of [
    { role: "tool", text: long },
    { role: "user", text: long },
    { role: "assistant", toolCalls: [{ name: "Write", input: long, summary: "x" }] },
  ] as const) {
    const shown = textOf(page(message));
    assert.ok(shown.includes(told.slice(3)), shown.slice(-500));
    assert.ok(page(message).length < pageOf().length + 8_000);
  }
  assert.ok(textOf(page({ role: "tool", text: long })).includes(told));
  for (const fits of [
    { role: "tool", text: long.slice(500) },
    { role: "assistant", text: "*a*", reasoning: "b", toolCalls: [{ name: "Write", input: { a: ["b", 1, null] } }] },
  ] as const) {
    assert.equal(page(fits), pageOf(fits));
  }
});

test("what a message becomes stays within its bound, whatever its texts are", () => {
  const text = fc.array(fc.constantFrom(...PIECES, "||||", "|a|b|\n|:-:|:-:|\n", "- ", "#\n", '"', "\u0001"), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(fc.constantFrom(...FIELDS), text, (field, pieces) => {
      const { messages } = field.make(pieces.join(""));
      const writer = htmlWriter(3_000);
      for (const message of messages) {
        if (message.subagent !== undefined) continue;
        assert.ok(writer.message(message, { depth: 0, isFirst: true }).length < 3_000 + 4_000, JSON.stringify(message));
      }
    }),
    { numRuns: 2_000 },
  );
});
