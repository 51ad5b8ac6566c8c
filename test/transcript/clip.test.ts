import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { clip, clipBytes, oneLine } from "../../src/transcript/clip.ts";

const CLIPPED: readonly (readonly [string, number, string, boolean])[] = [
  ["", 5, "", false],
  ["abcde", 5, "abcde", false],
  ["abcdef", 5, "abcd…", true],
  ["abc😀ef", 5, "abc…", true],
  ["ab😀cde", 5, "ab😀…", true],
  ["abc\r\nef", 5, "abc…", true],
  ["ab\r\ncde", 5, "ab\r\n…", true],
  ["abc\r\r\nf", 5, "abc\r…", true],
  ["😀😀", 2, "…", true],
  ["ab", 1, "…", true],
];

for (const [text, limit, wanted, cut] of CLIPPED) {
  test(`${JSON.stringify(text)} in ${limit} characters is ${JSON.stringify(wanted)}`, () => {
    assert.deepEqual(clip(text, limit), { text: wanted, cut });
  });
}

const IN_BYTES: readonly (readonly [string, number, string, boolean])[] = [
  ["", 8, "", false],
  ["abcdefgh", 8, "abcdefgh", false],
  ["abcdefghi", 8, "abcde…", true],
  ["ééééé", 8, "éé…", true],
  ["éééé", 8, "éééé", false],
  ["語語語", 8, "語…", true],
  ["a😀😀😀", 8, "a😀…", true],
  ["ab😀😀😀", 8, "ab…", true],
  ["abcd\r\nghi", 8, "abcd…", true],
  ["\ud83d\ud83d\ud83d", 8, "\ud83d…", true],
];

for (const [text, limit, wanted, cut] of IN_BYTES) {
  test(`${JSON.stringify(text)} in ${limit} bytes is ${JSON.stringify(wanted)}`, () => {
    assert.deepEqual(clipBytes(text, limit), { text: wanted, cut });
  });
}

test("a clipped text is within its limit, a beginning of the text, and never half a character", () => {
  const texts = fc.string({ unit: fc.constantFrom("a", "é", "語", "😀", "\r", "\n"), maxLength: 60 });
  fc.assert(
    fc.property(texts, fc.integer({ min: 3, max: 40 }), (text, limit) => {
      for (const [clipped, size] of [
        [clip(text, limit), (part: string) => part.length],
        [clipBytes(text, limit), (part: string) => Buffer.byteLength(part)],
      ] as const) {
        assert.equal(clipped.cut, size(text) > limit);
        assert.ok(size(clipped.text) <= limit);
        assert.doesNotThrow(() => encodeURIComponent(clipped.text), "no half of a pair");
        if (!clipped.cut) return assert.equal(clipped.text, text);
        const kept = clipped.text.slice(0, -1);
        assert.ok(clipped.text.endsWith("…") && text.startsWith(kept));
        assert.ok(!(kept.endsWith("\r") && text[kept.length] === "\n"));
        // No more than one character, or one line's end, was given away.
        assert.ok(size(kept) + 5 + size("…") > limit);
      }
    }),
  );
});

test("white space of any kind becomes one space, and none at the ends", () => {
  assert.equal(oneLine("  a\r\n\t b\u2028c\u00a0 d\n"), "a b c d");
  assert.equal(oneLine("\n"), "");
});
