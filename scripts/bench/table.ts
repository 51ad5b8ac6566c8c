import type { Row } from "./measure.ts";

/** A measure that could not be taken, and why. */
export interface Missing {
  readonly measure: string;
  readonly reason: string;
}

/** The ratio (or difference) of a row; undefined where nothing is compared. */
export function compared(row: Row): number | undefined {
  if (row.bare === undefined) return undefined;
  return row.compare === "ratio" ? row.ours / row.bare : row.ours - row.bare;
}

/** The rows as a table of ratios, absolute figures last. */
export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map((row) => [
    row.measure,
    row.what,
    comparison(row),
    row.slope === undefined ? "" : row.slope.toFixed(2),
    row.aim ?? "",
    figure(row.ours, row.unit),
    row.bare === undefined ? "" : figure(row.bare, row.unit),
  ]);
  const all = [["measure", "what", "ratio", "slope", "aim", "ours", "bare"], ...lines];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((line) => line[column]?.length ?? 0))) ?? [];
  const format = (line: readonly string[]): string =>
    line
      .map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ")
      .trimEnd();
  return all.map(format).join("\n");
}

function comparison(row: Row): string {
  const value = compared(row);
  if (value === undefined) return "";
  return row.compare === "ratio" ? `${value.toFixed(2)} ×` : `${value >= 0 ? "+" : ""}${value.toFixed(1)} ${row.unit}`;
}

function figure(value: number, unit: string): string {
  return `${value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)} ${unit}`;
}
