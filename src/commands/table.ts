import { fit, fitEnd, padEnd, widthOf } from "./width.ts";

/** A column of a table. */
export interface Column {
  readonly heading: string;
  /** Too long for the terminal, its text is cut at the end, or at the start; a column without `cut` is never cut. */
  readonly cut?: "end" | "start";
  /** Columns of the terminal that it keeps when others need room. */
  readonly least?: number;
  /** On a terminal too narrow even so, columns with the lowest numbers go first; those without one stay. */
  readonly goes?: number;
  /** Changes how a text looks, never its width. */
  paint?(text: string): string;
}

const GAP = 2;

/**
 * Lines of a table with one heading, each at most `width` wide (undefined: as wide as it comes). What is too much is
 * taken from the widest columns that may be cut; when that is not enough, columns go, and at last every text is cut.
 */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number | undefined,
): string[] {
  const leaving = width === undefined || leastWidth(columns, rows) <= width ? undefined : firstToGo(columns);
  if (leaving === undefined) return laidOut(columns, rows, width);
  const stays = (_: unknown, index: number): boolean => index !== leaving;
  return tableLines(
    columns.filter(stays),
    rows.map((row) => row.filter(stays)),
    width,
  );
}

function firstToGo(columns: readonly Column[]): number | undefined {
  const order = columns.flatMap(({ goes }, index) => (goes === undefined ? [] : [{ goes, index }]));
  return order.sort((a, b) => a.goes - b.goes)[0]?.index;
}

function leastWidth(columns: readonly Column[], rows: readonly (readonly string[])[]): number {
  const widths = columns.map(({ heading, cut, least = 1 }, index) => {
    const natural = Math.max(widthOf(heading), ...rows.map((row) => widthOf(row[index] ?? "")));
    return cut ? Math.min(natural, least) : natural;
  });
  return widths.reduce((sum, each) => sum + each, GAP * (columns.length - 1));
}

function laidOut(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number | undefined,
): string[] {
  const all = [columns.map((column) => column.heading), ...rows];
  const natural = columns.map((_, index) => Math.max(...all.map((row) => widthOf(row[index] ?? ""))));
  const widths = width === undefined ? natural : shrink(columns, natural, width - GAP * (columns.length - 1));
  return all.map((row, number) => {
    const cells = columns.map((column, index) => {
      const room = widths[index] ?? 0;
      const text = row[index] ?? "";
      const shown = column.cut === "start" ? fitEnd(text, room) : fit(text, room);
      const painted = number > 0 && column.paint ? column.paint(shown) : shown;
      if (room === 0) return "";
      const filler = index === columns.length - 1 ? "" : " ".repeat(Math.max(0, room - widthOf(shown)));
      return painted + filler;
    });
    return cells.join(" ".repeat(GAP)).trimEnd();
  });
}

/**
 * Takes one by one from the widest column that still has more than it must keep, until all fit; then from every column,
 * down to nothing.
 */
function shrink(columns: readonly Column[], natural: readonly number[], room: number): number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, width) => sum + width, 0) - room;
  while (excess > 0) {
    const spare = columns.map((column, index) => (column.cut ? (widths[index] ?? 0) - (column.least ?? 1) : 0));
    const widest = widths.reduce(
      (best, width, index) => ((spare[index] ?? 0) > 0 && (best < 0 || width > (widths[best] ?? 0)) ? index : best),
      -1,
    );
    if (widest < 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
    excess--;
  }
  for (let index = widths.length - 1; index >= 0 && excess > 0; index--) {
    const taken = Math.min(excess, widths[index] ?? 0);
    widths[index] = (widths[index] ?? 0) - taken;
    excess -= taken;
  }
  return widths;
}

/** Rows of two columns, the first as wide as it needs, for a report. */
export function pairLines(rows: readonly (readonly [string, string])[], indent = 0): string[] {
  const left = Math.max(...rows.map(([name]) => widthOf(name)), 0) + GAP;
  return rows.map(([name, value]) => `${" ".repeat(indent)}${padEnd(name, left)}${value}`.trimEnd());
}
