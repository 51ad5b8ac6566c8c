import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Screen } from "../../../src/dashboard/app/agents/screen.ts";

const MOST_LINES = 2_000;

/** Pieces that move, erase, scroll and switch, and text, also broken off anywhere. */
const piece = fc.oneof(
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.constantFrom(
    "a",
    "漢",
    "😀",
    "e\u0301",
    "\u202e",
    "\ud83d",
    "\ude00",
    "\r\n",
    "\n",
    "\r",
    "\b",
    "\t",
    "0123456789abc",
  ),
  fc.constantFrom("\x1b7", "\x1b8", "\x1bD", "\x1bE", "\x1bM", "\x1bc", "\x1b(0", "\x1b(B", "\x0e", "\x0f", "\x18"),
  fc.constantFrom("\x1b]0;t\x07", "\x1bP", "\x1b\\", "\u009b", "\u009d", "\x1b[", "\x1b", "\x1b[?", "\x1b[1;"),
  fc.constantFrom("\x1b[?1049h", "\x1b[?1049l", "\x1b[?47h", "\x1b[?7l", "\x1b[?7h", "\x1b[4h", "\x1b[4l"),
  fc
    .tuple(fc.array(fc.nat({ max: 12 }), { maxLength: 3 }), fc.constantFrom(..."@ABCDEFGHIJKLMPSTXZ`abdefghlmrsu"))
    .map(([numbers, end]) => `\x1b[${numbers.join(";")}${end}`),
  fc.nat().map((number) => `\x1b[${number};${number}${"HrLMST@PX"[number % 9]}`),
);
const written = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(""));
const size = fc.record({ columns: fc.integer({ min: 1, max: 12 }), rows: fc.integer({ min: 1, max: 6 }) });

/** All that is seen of a screen. */
function seen(screen: Screen): unknown {
  const { cursor, lines, wantsArrows, wantsPastes } = screen;
  const place = cursor && [lines.indexOf(cursor.line), cursor.column];
  return { place, lines: lines.map((line) => line.runs()), wantsArrows, wantsPastes };
}

test("whatever is written in whatever parts, a screen shows the same", () => {
  fc.assert(
    fc.property(written, size, fc.array(fc.nat({ max: 200 }), { maxLength: 12 }), (text, options, cuts) => {
      const whole = new Screen(options);
      whole.write(text);
      const parts = new Screen(options);
      const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
      for (let part = 1; part < places.length; part++) parts.write(text.slice(places[part - 1], places[part]));
      assert.deepEqual(seen(parts), seen(whole));
      const units = new Screen(options);
      for (let unit = 0; unit < text.length; unit++) units.write(text.charAt(unit));
      assert.deepEqual(seen(units), seen(whole));
    }),
    { numRuns: 1_500 },
  );
});

test("whatever is written, a screen keeps its size and its cursor, and no line is wider than it", () => {
  fc.assert(
    fc.property(written, size, written, size, (before, was, text, options) => {
      const screen = new Screen(was);
      screen.write(before);
      screen.resize(options.columns, options.rows);
      screen.write(text);
      const { cursor, lines } = screen;
      assert.equal(lines.length >= options.rows && lines.length <= MOST_LINES + options.rows, true);
      for (const line of lines.slice(-options.rows)) {
        assert.equal(line.length <= options.columns, true, `${line.length} cells`);
        const cells = line.runs().reduce((sum, run) => sum + (run.wide ? 2 : cellsOf(run.text)), 0);
        assert.equal(cells <= options.columns, true, `${cells} cells are shown`);
      }
      if (cursor === undefined) return;
      assert.equal(lines.slice(-options.rows).includes(cursor.line), true);
      assert.equal(cursor.column >= 0 && cursor.column < options.columns, true);
    }),
    { numRuns: 1_500 },
  );
});

function cellsOf(text: string): number {
  return [...text.replace(/\p{M}|[\u1160-\u11ff\u200c\u200d]/gu, "")].length;
}

test("a screen stays bounded: long lines, marks without end, sequences without end", () => {
  const wide = new Screen({ columns: 10_000, rows: 50, newline: true });
  for (let part = 0; part < 200; part++) wide.write("x".repeat(9_999).concat("\n"));
  assert.equal(wide.lines.reduce((sum, line) => sum + line.length, 0) <= 400_000 + 50 * 10_000, true);
  const small = new Screen({ columns: 10, rows: 3 });
  small.write(`e${"\u0301".repeat(100_000)}`);
  assert.equal((small.lines[0]?.text.length ?? 0) <= 16, true);
  small.write(`\x1b[${"1;".repeat(100_000)}Hx`);
  small.write(`\x1b]0;${"t".repeat(100_000)}\x07y`);
  small.write("\x1b[999999999999S\x1b[999999999999L\x1b[999999999999@\x1b[999999999999T");
  assert.equal(small.lines.length <= MOST_LINES + 3, true);
});
