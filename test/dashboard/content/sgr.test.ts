import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ansiRuns, overwritten } from "../../../src/dashboard/app/content/ansi.ts";
import { contrast, DARK, LIGHT, type Rgb, readableOn, rgbOf } from "../../../src/dashboard/app/content/colour.ts";
import { applySgr, PLAIN, type Style } from "../../../src/dashboard/app/content/sgr.ts";

const after = (...params: string[]): Style => JSON.parse(JSON.stringify(params.reduce(applySgr, PLAIN)));

test("looks are set, and reset one by one or all at once", () => {
  assert.deepEqual(after("1;3;4;9"), { bold: true, italic: true, underline: true, strike: true });
  assert.deepEqual(after("1;2;7", "22"), { bold: false, dim: false, inverse: true });
  assert.deepEqual(after("1;31", "0"), {});
  assert.deepEqual(after("1;31", ""), {});
  assert.deepEqual(after("4:3"), { underline: true });
  assert.deepEqual(after("4", "4:0"), { underline: false });
});

test("colours are those of the sixteen, of the 256, or of red, green and blue, in either form", () => {
  assert.deepEqual(after("31;42"), { fg: 1, bg: 2 });
  assert.deepEqual(after("95;107"), { fg: 13, bg: 15 });
  assert.deepEqual(after("38;5;196;1"), { fg: 196, bold: true });
  assert.deepEqual(after("48;2;1;2;3;4"), { bg: [1, 2, 3], underline: true });
  assert.deepEqual(after("38:5:9"), { fg: 9 });
  assert.deepEqual(after("38:2:1:2:3"), { fg: [1, 2, 3] });
  assert.deepEqual(after("38:2::1:2:3;3"), { fg: [1, 2, 3], italic: true });
  assert.deepEqual(after("31;44", "39;49"), {});
});

test("what is no colour, or has no look, changes nothing", () => {
  for (const params of [
    "38;5;256",
    "38;5",
    "38;2;1;2",
    "38",
    "38:9:1",
    "58;5;1",
    "5",
    "8",
    "11",
    "38;2;-1;0;0",
    "99",
  ]) {
    assert.deepEqual(after("31", params), { fg: 1 }, params);
  }
});

test("a text is split where its look changes, and no sequence is left in it", () => {
  const { runs, style } = ansiRuns("a\u001b[31mb\u001b]0;title\u0007\u001b[2Jc\u001b[0m\u001b[1md\n");
  assert.deepEqual(runs, [
    { text: "a", style: {} },
    { text: "bc", style: { fg: 1 } },
    { text: "d\n", style: { bold: true } },
  ]);
  assert.deepEqual(style, { bold: true });
});

test("a text in pieces looks as it does in one", () => {
  const first = ansiRuns("\u001b[32mone\n");
  assert.deepEqual(ansiRuns("two", first.style).runs, [{ text: "two", style: { fg: 2 } }]);
});

test("a line that was written over shows its last state, and keeps its colours", () => {
  assert.equal(overwritten("10%\r20%\r100%\nend\r\nlast\r"), "100%\nend\nlast");
  assert.deepEqual(ansiRuns("\u001b[31mred\rover").runs, [{ text: "over", style: { fg: 1 } }]);
  assert.deepEqual(ansiRuns("all\r\u001b[K\nx").runs, [{ text: "\nx", style: {} }]);
  assert.deepEqual(
    ansiRuns("stays\r\u001b[0m\n")
      .runs.map(({ text }) => text)
      .join(""),
    "stays\n",
  );
});

test("no text leaves a control character in what is shown", () => {
  const pieces = fc.constantFrom(
    "\u001b",
    "[",
    "31",
    ";",
    "m",
    "\r",
    "\n",
    "\u009b",
    "]0;",
    "\u0007",
    "\u202e",
    "a",
    "K",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
      const shown = ansiRuns(parts.join(""))
        .runs.map(({ text }) => text)
        .join("");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
      return !/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/.test(shown);
    }),
  );
});

test("any colour can be read on the light and on the dark, and on any ground", () => {
  const byte = fc.integer({ min: 0, max: 255 });
  const rgb: fc.Arbitrary<Rgb> = fc.tuple(byte, byte, byte);
  fc.assert(
    fc.property(rgb, rgb, byte, (colour, ground, number) => {
      for (const on of [LIGHT, DARK, ground, rgbOf(number)]) {
        assert.ok(contrast(readableOn(colour, on), on) >= 4.5, `${colour} on ${on}`);
      }
    }),
  );
});

test("the 256 colours are those of a terminal", () => {
  assert.deepEqual([16, 196, 231, 232, 255].map(rgbOf), [
    [0, 0, 0],
    [255, 0, 0],
    [255, 255, 255],
    [8, 8, 8],
    [238, 238, 238],
  ]);
});
