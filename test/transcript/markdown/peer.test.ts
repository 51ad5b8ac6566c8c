import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ourHtml, peerHtml } from "./peer.ts";
import { ANSWERS, SECTIONS } from "./sections.ts";

for (const [section, inputs] of Object.entries(SECTIONS)) {
  test(`what CommonMark says of ${section} is read as markdown-it reads it`, () => {
    for (const input of inputs) assert.equal(ourHtml(input), peerHtml(input), JSON.stringify(input));
  });
}

test("answers as agents write them are read as markdown-it reads them", () => {
  for (const answer of ANSWERS) {
    assert.equal(ourHtml(answer), peerHtml(answer), JSON.stringify(answer));
    assert.equal(ourHtml(answer.replaceAll("\n", "\r\n")), peerHtml(answer), "with the line ends of Windows");
  }
});

test("every text in the agents' transcripts is read as markdown-it reads it", () => {
  const fixtures = join(import.meta.dirname, "../../../fixtures");
  const texts = new Set<string>();
  for (const file of globSync("**/*.{jsonl,json,txt,md}", { cwd: fixtures })) {
    const content = readFileSync(join(fixtures, file), "utf8");
    for (const line of content.split("\n")) addTexts(texts, line);
  }
  assert.ok(texts.size > 500, `${texts.size}`);
  for (const text of texts) assert.equal(ourHtml(text), peerHtml(text), JSON.stringify(text));
});

/** Every string in a line of JSON. */
function addTexts(texts: Set<string>, line: string): void {
  try {
    JSON.parse(line, (_, value) => {
      if (typeof value === "string") texts.add(value);
      return value;
    });
  } catch {
    // A transcript also holds lines that are cut off.
  }
}
