import assert from "node:assert/strict";
import { test } from "node:test";
import { fit, fitEnd, widthOf } from "../../src/commands/width.ts";
import { printable, printableJson } from "../../src/transcript/printable.ts";

test("wide characters take two columns, combining marks none", () => {
  const texts = ["abc", "é", "e\u0301", "日本", "한국", "😀", "👩‍👩‍👧", "❤️", "…", "ｱ", "Ａ"];
  assert.deepEqual(texts.map(widthOf), [3, 1, 1, 4, 4, 2, 2, 2, 1, 1, 2]);
});

test("a text is cut so that it fits, never inside a character", () => {
  assert.deepEqual(
    [fit("abcdef", 6), fit("abcdef", 5), fit("日本語", 5), fit("日本語", 6), fit("a😀b", 3), fit("abc", 0)],
    ["abcdef", "abcd…", "日本…", "日本語", "a…", ""],
  );
});

test("a path is cut at its start", () => {
  assert.deepEqual([fitEnd("/home/dev/shop", 6), fitEnd("shop", 6), fitEnd("/翻訳", 4)], ["…/shop", "shop", "…訳"]);
});

test("nothing that a transcript holds can act on a terminal", () => {
  assert.equal(
    printable("a\u001b[31mred\u001b[0m\u001b]0;title\u0007b\r\nc\td\u0000\u009b1me\u202ef"),
    "aredb\nc\tdef",
  );
});

test("JSON is printed without control characters and stays the same value", () => {
  const value = { text: "a\u001b[31m\u009b\u007f\u202e" };
  const shown = printableJson(value);
  assert.equal(shown, '{"text":"a\\u001b[31m\\u009b\\u007f\\u202e"}');
  assert.deepEqual(JSON.parse(shown), value);
});

test("what has no width can hide nothing: joiners, tags and marks are left out, other line ends are spaces", () => {
  const points = [0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0xfeff, 0x61c, 0x2060, 0x2064, 0xe0001, 0xe0041, 0xe007f];
  for (const point of points) assert.equal(printable(`a${String.fromCodePoint(point)}b`), "ab", point.toString(16));
  assert.equal(printable("a\u2028b\u2029c"), "a b c");
  assert.equal(printable("naïve 翻訳 👍🏽 \u{e0100}"), "naïve 翻訳 👍🏽 \u{e0100}");
  const value = { text: "a\u200b\u2028\ufeff\u{e0041}b👍" };
  assert.equal(printableJson(value), '{"text":"a\\u200b\\u2028\\ufeff\\udb40\\udc41b👍"}');
  assert.deepEqual(JSON.parse(printableJson(value)), value);
});
