import type { Align } from "./tree.ts";

/** How the columns are aligned if `line` can stand between the head of a table and its rows. */
export function readAlign(line: string): Align[] | undefined {
  if (!/^[-:|][-:| \t]*$/.test(line) || !/[|:]/.test(line) || /^-[ \t]/.test(line)) return undefined;
  const cells = splitRow(line, Number.POSITIVE_INFINITY);
  if (!cells.every((cell) => /^:?-+:?$/.test(cell))) return undefined;
  return cells.map((cell) => {
    const right = cell.endsWith(":");
    if (cell.startsWith(":")) return right ? "center" : "left";
    return right ? "right" : undefined;
  });
}

/** The cells of a row, at most `most`: more than the table has columns are left together in the last, not lost. */
export function splitRow(line: string, most: number): string[] {
  const row = line.trim();
  const cells: string[] = [];
  let end = row.length;
  if (row.endsWith("|") && row[end - 2] !== "\\" && end > 1) end--;
  let start = row.startsWith("|") ? 1 : 0;
  for (let at = start; at < end && cells.length < most - 1; at++) {
    if (row[at] !== "|" || row[at - 1] === "\\") continue;
    cells.push(row.slice(start, at));
    start = at + 1;
  }
  cells.push(row.slice(start, end));
  return cells.map((cell) => cell.trim().replaceAll("\\|", "|"));
}
