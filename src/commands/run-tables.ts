import type { EpochMs } from "../platform/clock.ts";
import { asText, type JsonObject } from "../platform/read.ts";
import { timeOf } from "../runs/job.ts";
import type { RunStatus } from "../runs/names.ts";
import type { JobSummary, RunSummary } from "../runs/summary.ts";
import { printable, printableLine } from "../transcript/printable.ts";
import type { Style } from "./style.ts";
import { pairLines, tableLines } from "./table.ts";
import { ago, day, timeOfDay } from "./when.ts";

/** What a table is made for. */
export interface Shown {
  /** Of the terminal; undefined: nothing is cut. */
  readonly columns: number | undefined;
  readonly style: Style;
  readonly now: EpochMs;
}

/** Runs as a table. */
export function runTable(runs: readonly RunSummary[], { columns, style, now }: Shown): string[] {
  const headings = [
    { heading: "NAME", paint: style.cyan },
    { heading: "STATUS", goes: 3, paint: statusPaint(style) },
    { heading: "UPDATED", goes: 2 },
    { heading: "BY", cut: "end", least: 4, goes: 1 },
    { heading: "TASK", cut: "end", least: 10 },
  ] as const;
  const rows = runs.map(({ name, status, updatedAt, by, title, task }) => [
    printableLine(name),
    status,
    ago(updatedAt, now),
    printableLine(by ?? ""),
    printableLine(asText(title) ?? task),
  ]);
  return tableLines(headings, rows, columns);
}

/** Jobs as a table. */
export function jobTable(jobs: readonly JobSummary[], { columns, style, now }: Shown): string[] {
  const headings = [
    { heading: "NAME", paint: style.cyan },
    { heading: "STATUS", goes: 3, paint: statusPaint(style) },
    { heading: "STARTED", goes: 2 },
    { heading: "BY", cut: "end", least: 4, goes: 1 },
    { heading: "PROMPT", cut: "end", least: 10 },
  ] as const;
  const rows = jobs.map(({ name, status, startedAt, owner, by, prompt }) => {
    const at = timeOf(startedAt);
    return [
      printableLine(name),
      status,
      at === undefined ? "" : ago(at, now),
      printableLine(asText(owner) ?? asText(by) ?? ""),
      printableLine(asText(prompt) ?? ""),
    ];
  });
  return tableLines(headings, rows, columns);
}

/** Every field that says something, one a line. */
export function fieldLines(fields: JsonObject): string[] {
  const rows = Object.entries(fields).flatMap(([key, value]) => {
    const text = fieldText(key, value);
    return text === "" ? [] : [[key, text] as const];
  });
  return pairLines(rows);
}

function fieldText(key: string, value: unknown): string {
  if (value === null || value === undefined) return "";
  const at = /At$/.test(key) ? timeOf(value) : undefined;
  if (at !== undefined) return at === 0 ? "" : `${day(at)} ${timeOfDay(at)}`;
  return printable(typeof value === "string" ? value : JSON.stringify(value)).trimEnd();
}

function statusPaint(style: Style): (text: string) => string {
  const paints: { readonly [status in RunStatus]: (text: string) => string } = {
    running: style.green,
    done: style.dim,
    failed: style.red,
    interrupted: style.yellow,
  };
  return (text) => paints[text as RunStatus]?.(text) ?? text;
}
