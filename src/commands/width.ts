/** Made when it is first used: that takes longer than all else that a command does before it begins. */
let segmenter: Intl.Segmenter | undefined;

function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return segmenter.segment(text);
}

/** Ranges of code points that take two columns (Unicode's East Asian Wide and Fullwidth, rounded to blocks). */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x17000, 0x18cff],
  [0x1b000, 0x1b2ff],
  [0x1f200, 0x1f320],
  [0x1f900, 0x1f9ff],
  [0x20000, 0x3fffd],
];

/** How many columns of a terminal `text` (on one line, printable) takes. */
export function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemesOf(text)) width += graphemeWidth(segment);
  return width;
}

/** `text` in at most `columns` columns; cut at the end, where it then has `…`. */
export function fit(text: string, columns: number): string {
  if (columns <= 0) return "";
  if (text.length <= columns / 2 || widthOf(text) <= columns) return text;
  let fitting = "";
  let width = 0;
  for (const { segment } of graphemesOf(text)) {
    width += graphemeWidth(segment);
    if (width > columns - 1) break;
    fitting += segment;
  }
  return `${fitting}…`;
}

/** As `fit`, cut at the start: for paths, whose end tells most. */
export function fitEnd(text: string, columns: number): string {
  if (columns <= 0) return "";
  if (widthOf(text) <= columns) return text;
  let fitting = "";
  let width = 0;
  for (const { segment } of [...graphemesOf(text)].reverse()) {
    width += graphemeWidth(segment);
    if (width > columns - 1) break;
    fitting = segment + fitting;
  }
  return `…${fitting}`;
}

/** `text` filled up with spaces to `columns` columns. */
export function padEnd(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - widthOf(text)));
}

function graphemeWidth(grapheme: string): number {
  const point = grapheme.codePointAt(0) ?? 0;
  if (point < 0x300) return 1;
  if (/^[\p{M}\p{Cf}]/u.test(grapheme)) return 0;
  if (/\p{Emoji_Presentation}|\ufe0f/u.test(grapheme)) return 2;
  return WIDE.some(([first, last]) => point >= first && point <= last) ? 2 : 1;
}
