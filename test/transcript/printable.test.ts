import assert from "node:assert/strict";
import { test } from "node:test";
import {
  PrintableText,
  printable,
  printableLine,
  readable,
  readableLine,
  withColours,
} from "../../src/transcript/printable.ts";

/** `chunks` made printable one after the other. */
function shown(...chunks: string[]): string {
  const text = new PrintableText();
  return chunks.map((chunk) => text.add(chunk)).join("") + text.end();
}

const SAMPLE =
  "a\u001b[31mred\u001b[0m \u001b]0;title\u0007b\u001b]8;;http://x\u001b\\c\r\nd\re\u009b1mf\u{e0041}g😀\u202eh\u001b(Bi\u001bPq#1\u001b\\j\u001b7k\n";

test("escape sequences are taken out whole, and what only looks like the beginning of one takes no text with it", () => {
  assert.equal(printable(SAMPLE), "ared bc\nd\nefg😀hijk\n");
  assert.equal(printable("a\u001b]0;b\nc\u0007d \u001b[1"), "a]0;b\ncd [1");
});

test("a text in chunks shows what the whole shows, wherever it is cut", () => {
  const whole = printable(SAMPLE);
  for (let first = 0; first <= SAMPLE.length; first++) {
    for (let second = first; second <= SAMPLE.length; second++) {
      const text = shown(SAMPLE.slice(0, first), SAMPLE.slice(first, second), SAMPLE.slice(second));
      assert.equal(text, whole, `${first} ${second}`);
    }
  }
  assert.equal(shown(...SAMPLE.split("")), whole);
});

test("text is shown as it comes: only what may be the beginning of something waits", () => {
  const text = new PrintableText();
  assert.deepEqual(
    [text.add("ab"), text.add("c\r"), text.add("\nd\u001b["), text.add("3"), text.add("1me")],
    ["ab", "c", "\nd", "", "e"],
  );
  assert.deepEqual([text.add("\u001b[1"), text.end(), text.end(), text.add("x")], ["", printable("\u001b[1"), "", "x"]);
});

test("a sequence that never ends holds nothing back for long, and still can't act", () => {
  const long = "x".repeat(3_000);
  assert.equal(shown("\u001b]0;", ...long.split("")).length > 2_900, true);
  assert.match(shown("\u001b]0;a\nb"), /a\nb$/);
  // Takes minutes when the end of a chunk is looked for anew from each of its places.
  shown("\u009d".repeat(200_000), "\u001b]".repeat(200_000), "\u001b[".repeat(200_000), "\r".repeat(200_000));
});

test("a line is printable and has single gaps", () => {
  assert.equal(printableLine(" a\u001b[1m \r\n\tb\u0000 "), "a b");
});

test("a document keeps what belongs to scripts, emoji and words, and nothing else that a terminal would not get", () => {
  const england = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}";
  for (const text of [
    "👩\u200d👩\u200d👧",
    "می\u200cخواهم",
    "abc\u200f!\u200e\u061c",
    "a\u200bb\u2060c",
    `${england}${england}`,
  ]) {
    assert.equal(readable(text), text);
    assert.equal(readable(`\u001b[31m${text}\u202e\u2066`), text);
    assert.equal(readableLine(`${text}\n ${text}`), `${text} ${text}`);
  }
  assert.equal(readable(SAMPLE), printable(SAMPLE));
  assert.equal(
    readable("\u202aa\u202bb\u202cc\u202dd\u202ee\u2066f\u2067g\u2068h\u2069i\ufeff\ufff9j\u206ak"),
    "abcdefghijk",
  );
  assert.equal(readable("\u{1f3f4}\u{e0041}\u{e0042}\u{e0043}\u{e007f}\u{e0061}x\u{e0061}\u{e007f}"), "\u{1f3f4}x");
});

test("a line of a document on which nothing can be seen is none", () => {
  assert.equal(readableLine("\u200b \u200d\n\u2060"), "");
});

test("colours and style stay, and no other escape character does, however sequences stand in one another", () => {
  const kept = "\u001b[31mred\u001b[0m";
  assert.equal(withColours(`a${kept}\u001b[2J\u001b]8;;http://x\u001b\\b\u001b7`), `a${kept}b`);
  assert.equal(withColours("\u009b4mold\u009b0m\u009b2K"), "\u001b[4mold\u001b[0m");
  // These look like colours, and tell a terminal something else.
  assert.equal(withColours("\u001b[>4;2mx\u001b[?4m\u001b[0 m"), "x");
  // What is left of one sequence, when another is taken out of its middle, is none.
  assert.equal(withColours("\u001b\u001b[0K[2Jx"), "[2Jx");
  assert.equal(withColours("\u001b\u001b[2J[31mx"), "\u001b[31mx");
  assert.equal(withColours("\u001b\u001b[31mx\u009d"), "\u001b[31mx");
  assert.equal(withColours("no colours\r\n\u202e"), "no colours\r\n\u202e");
});
