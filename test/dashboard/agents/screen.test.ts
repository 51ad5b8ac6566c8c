import assert from "node:assert/strict";
import { test } from "node:test";
import { Screen, type ScreenOptions } from "../../../src/dashboard/app/agents/screen.ts";

const SMALL = { columns: 10, rows: 4 };

function after(text: string, options: ScreenOptions = SMALL): Screen {
  const screen = new Screen(options);
  screen.write(text);
  return screen;
}

/** The lines without those that are blank at the end. */
function shown(text: string, options?: ScreenOptions): string {
  return texts(after(text, options)).join("\n").trimEnd();
}

function texts(screen: Screen): string[] {
  return screen.lines.map((line) => line.text);
}

const CASES: readonly (readonly [what: string, written: string, shows: string])[] = [
  ["a newline goes down and not back", "ab\ncd", "ab\n  cd"],
  ["a carriage return goes back", "abc\rX", "Xbc"],
  ["a backspace goes back by one", "abc\b\bX", "aXc"],
  ["a tab goes to the next eighth column, and no further than the last", "a\tb\t\tc", "a       bc"],
  ["text wraps at the last column", "0123456789ab", "0123456789\nab"],
  ["the last column does not wrap by itself", "0123456789\r\nab", "0123456789\nab"],
  ["a backspace from the last column stays on the line", "0123456789\bX", "01234567X9"],
  ["without wrapping the last column is written over", "\x1b[?7l0123456789ab", "012345678b"],
  ["the cursor goes to a row and column", "\x1b[2;3Hx", "\n  x"],
  ["home is the first row and column", "ab\x1b[HX", "Xb"],
  ["a place outside of the screen is at its edge", "\x1b[99;99Hx\x1b[0;0Hy", "y\n\n\n         x"],
  ["the cursor moves up, down, left and right", "\x1b[3;5Ha\x1b[2Ab\x1b[Bc\x1b[4Dd\x1b[2Ce", "     b\n   d  e\n    a"],
  ["the cursor goes to a column, and to a row", "abc\x1b[2GX\x1b[3dY", "aXc\n\n  Y"],
  ["the cursor goes to the start of lines below and above", "ab\x1b[2Ec\x1b[Fd", "ab\nd\nc"],
  [
    "a line is erased behind the cursor, before it, and all of it",
    "abcd\x1b[2D\x1b[K\nabcd\x1b[2D\x1b[1K\nab\x1b[2K",
    "ab\n     d",
  ],
  ["the screen is erased behind the cursor", "aa\r\nbb\r\ncc\x1b[2;2H\x1b[J", "aa\nb"],
  ["the screen is erased before the cursor", "aa\r\nbb\r\ncc\x1b[2;1H\x1b[1J", "\n b\ncc"],
  ["all of the screen is erased", "aa\r\nbb\x1b[2Jc", "\n  c"],
  ["lines are put in", "a\r\nb\r\nc\x1b[2;1H\x1b[2Lx", "a\nx\n\nb"],
  ["lines are taken away", "a\r\nb\r\nc\x1b[1;1H\x1b[Mx", "x\nc"],
  ["characters are put in, and leave the line at its end", "0123456789\x1b[1;3H\x1b[2@x", "01x 234567"],
  ["characters are taken away", "012345\x1b[1;2H\x1b[2P", "0345"],
  ["characters are erased", "012345\x1b[1;2H\x1b[2X", "0  345"],
  ["only the lines of the region scroll", "a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[3;1H\nx", "a\nc\nx\nd"],
  ["the screen scrolls up and down when asked", "a\r\nb\x1b[2;2r\x1b[r\x1b[T", "\na\nb"],
  ["a reverse line feed at the top scrolls down", "a\r\nb\x1b[H\x1bMx", "x\na\nb"],
  ["the cursor is kept and comes back", "ab\x1b7\x1b[3;3Hc\x1b8d", "abd\n\n  c"],
  ["inserting moves what stands there", "abc\x1b[1G\x1b[4hxy\x1b[4lz", "xyzbc"],
  ["lines are drawn by letters", "\x1b(0lqk\x1b(Bq", "┌─┐q"],
  ["a title and a link are not shown", "\x1b]0;title\x07a\x1b]8;;https://a.example\x1b\\b\x1b]8;;\x1b\\c", "abc"],
  ["a device control string is not shown", "\x1bPq#0;2;0;0;0~\x1b\\a\u0090zz\u009cb", "ab"],
  ["a sequence that was broken off begins anew", "\x1b[3\x1b[2Cx", "  x"],
  ["a sequence that is not known is not shown", "\x1b[>4;2ma\x1b[?u\x1b[1 qb\x1b[!pc", "abc"],
  ["a control within a sequence is obeyed", "a\x1b[2\rCx", "a x"],
  ["one-byte controls are those of two", "\u009b2Cx\u0085y", "  x\ny"],
  ["CJK characters and emoji take two cells", "漢\x1b[1;3Ha😀\x1b[1;6Hb", "漢a😀b"],
  ["a wide character that does not fit stands on the next line", "012345678漢", "012345678\n漢"],
  ["a wide character that is half written over is gone", "漢字\x1b[1;2Hx", " x字"],
  ["an accent joins its letter", "e\u0301x", "e\u0301x"],
  ["an accent joins the last letter of a line", "012345678e\u0301x", "012345678e\u0301\nx"],
  ["marks that turn the direction are not shown", "a\u202eb\u2066c\u200bd", "abcd"],
  ["half a character stands as what can't be read", "a\ud83dx", "a\ufffdx"],
];

for (const [what, written, shows] of CASES) {
  test(`screen: ${what}`, () => assert.equal(shown(written), shows));
}

test("what scrolls off the screen is kept, 2,000 lines of it", () => {
  const screen = after(Array.from({ length: 3_000 }, (_, line) => `line ${line}`).join("\r\n"));
  assert.equal(screen.lines.length, 2_004);
  assert.deepEqual(texts(screen).slice(0, 2), ["line 996", "line 997"]);
  assert.deepEqual(texts(screen).slice(-4), ["line 2996", "line 2997", "line 2998", "line 2999"]);
});

test("the second screen leaves the first as it was, and what scrolls off it is not kept", () => {
  const screen = after("0\r\n1\r\n2\r\n3\r\n4\x1b[?1049h\x1b[Ha\r\nb\r\nc\r\nd\r\ne\r\nf");
  assert.deepEqual(texts(screen), ["c", "d", "e", "f"]);
  screen.write("\x1b[?1049l!");
  assert.deepEqual(texts(screen), ["0", "1", "2", "3", "4!"]);
});

test("a line says when it changed, and keeps its key as it leaves the screen", () => {
  const screen = after("a\r\nb");
  const [first, second] = screen.lines;
  const versions = [first?.version, second?.version];
  screen.write("c");
  assert.equal(first?.version, versions[0]);
  assert.notEqual(second?.version, versions[1]);
  screen.write("\r\n\r\n\r\n");
  assert.equal(screen.lines[0], first);
  assert.equal(new Set(screen.lines.map(({ key }) => key)).size, screen.lines.length);
});

test("colours are kept with what was written in them", () => {
  const [line] = after("a\x1b[31mb\x1b[1mc\x1b[md").lines;
  assert.deepEqual(line?.runs(), [
    { text: "a", style: {} },
    { text: "b", style: { fg: 1 } },
    { text: "c", style: { fg: 1, bold: true } },
    { text: "d", style: {} },
  ]);
});

test("what is erased has the ground that is written on", () => {
  const [line] = after("\x1b[44m\x1b[Kx").lines;
  assert.deepEqual(line?.runs(), [
    { text: "x", style: { bg: 4 } },
    { text: "         ", style: { bg: 4 } },
  ]);
});

test("the cursor stands in a cell of its own, also behind the text", () => {
  const screen = after("ab漢");
  const { line, column } = screen.cursor ?? {};
  assert.deepEqual(line?.runs(column), [
    { text: "ab", style: {} },
    { text: "漢", style: {}, wide: true },
    { text: " ", style: {}, cursor: true },
  ]);
  assert.deepEqual(line?.runs(3), [
    { text: "ab", style: {} },
    { text: "漢", style: {}, wide: true, cursor: true },
  ]);
  screen.write("\x1b[?25l");
  assert.equal(screen.cursor, undefined);
});

test("a program says which arrows it wants, and whether it is told of what is pasted", () => {
  const screen = after("\x1b[?1;2004h");
  assert.deepEqual([screen.wantsArrows, screen.wantsPastes], [true, true]);
  screen.write("\x1b[?1l\x1b[?2004l");
  assert.deepEqual([screen.wantsArrows, screen.wantsPastes], [false, false]);
});

test("what a program without a terminal prints has its lines below each other, however long", () => {
  const long = "x".repeat(3_000);
  assert.equal(shown(`${long}\nb\n10%\r20%`, { columns: 10_000, rows: 4, newline: true }), `${long}\nb\n20%`);
});

test("a reset blanks the screen and forgets every mode", () => {
  const screen = after("ab\x1b[2;3r\x1b[31m\x1b[?25l\x1b(0\x1b[?1049h\x1bcq");
  assert.deepEqual(texts(screen), ["q", "", "", ""]);
  assert.equal(screen.cursor?.column, 1);
});

test("a screen of another size keeps the cursor's line, and what leaves it above", () => {
  const screen = after("0\r\n1\r\n2\r\n0123456789");
  screen.resize(5, 2);
  assert.deepEqual(texts(screen), ["0", "1", "2", "01234"]);
  screen.write("\r\nabcdef");
  assert.deepEqual(texts(screen), ["0", "1", "2", "01234", "abcde", "f"]);
  screen.resize(8, 4);
  assert.deepEqual(texts(screen), ["0", "1", "2", "01234", "abcde", "f", "", ""]);
  screen.write("\x1b[?1049h\x1b[4;8Hx");
  screen.resize(3, 2);
  screen.write("\x1b[?1049l!");
  assert.deepEqual(texts(screen), ["0", "1", "2", "01234", "abc", "f!"]);
});
