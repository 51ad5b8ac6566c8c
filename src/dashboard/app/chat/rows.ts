import type { Item } from "../wire.ts";
import type { Held } from "./window.ts";

/** A tool's call with its outputs; the call is absent where it stands outside of what is held. */
export interface CallRow {
  readonly kind: "call";
  readonly key: string;
  readonly call: Held | undefined;
  readonly outputs: readonly Held[];
  readonly version: string;
  /** Whether it stands in an unfolded group. */
  readonly grouped: boolean;
}

/** Calls one after the other; where it is open, their rows follow. */
export interface GroupRow {
  readonly kind: "group";
  readonly key: string;
  readonly calls: readonly CallRow[];
  readonly open: boolean;
  readonly version: string;
}

/** What was said, a mark, or a subagent. */
export interface ItemRow {
  readonly kind: "message" | "marker" | "subagent";
  readonly key: string;
  readonly held: Held;
  readonly version: string;
}

/** A day that begins. */
export interface DayRow {
  readonly kind: "day";
  readonly key: string;
  /** Its midnight, ms since the epoch. */
  readonly at: number;
  readonly version: string;
}

/** A row of a chat. */
export type ChatRow = CallRow | GroupRow | ItemRow | DayRow;

/** What rows are made with. */
export interface RowOptions {
  /** Whether the items begin where the chat begins: only there the first day has a line, which elsewhere would move along. */
  readonly atStart: boolean;
  /** Whether the group that begins with the call `key` is open. */
  isOpen(key: string): boolean;
  /** The midnight before a time, ms since the epoch. */
  startOfDay(at: number): number;
}

/** As many calls stand in one group at most: a run of ten thousand is a hundred lines that can be unfolded one by one. */
const GROUP_MOST = 100;
/** From so many calls on they are grouped. */
const GROUP_LEAST = 3;

/** Marks that the stores make out of events that nobody said. */
const MARKERS = new Set(["interrupted", "error", "compact", "rewind", "oversized", "command"]);

/** Whether an item is a mark and no call of a tool. */
export function isMarker({ kind, tool = "", of }: Item): boolean {
  return kind === "tool" && of === undefined && MARKERS.has(tool);
}

/**
 * The rows of `items`: outputs stand with their calls, calls one after the other are grouped, and each day has a line.
 * Groups begin where they began in the rows before, which keeps them the same while items come and go at the ends.
 */
export function rowsOf(items: readonly Held[], before: readonly ChatRow[], options: RowOptions): ChatRow[] {
  const rows: ChatRow[] = [];
  const starts = new Set(before.flatMap((row) => (row.kind === "group" ? (row.calls[0]?.key ?? []) : [])));
  let run: CallRow[] = [];
  let day = Number.NaN;
  const endRun = (): void => {
    for (const part of inGroups(run, starts)) rows.push(...groupOf(part, options));
    run = [];
  };
  for (const row of singleRows(items)) {
    const at = row.kind === "call" ? atOf(row) : row.held.item.at;
    const of = options.startOfDay(at);
    if (of > day || Number.isNaN(day)) {
      endRun();
      const isShown = options.atStart || !Number.isNaN(day);
      day = of;
      if (isShown) rows.push({ kind: "day", key: `day-${of}`, at: of, version: "" });
    }
    if (row.kind === "call") run.push(row);
    else {
      endRun();
      rows.push(row);
    }
  }
  endRun();
  return rows;
}

/** When a call was made, or where that is not known, when it ended. */
export function atOf({ call, outputs }: CallRow): number {
  return call?.item.at ?? outputs[0]?.item.at ?? 0;
}

/** When what a row shows was written: ms since the epoch. */
export function timeOfRow(row: ChatRow): number {
  if (row.kind === "day") return row.at;
  if (row.kind === "call") return atOf(row);
  if (row.kind !== "group") return row.held.item.at;
  return row.calls[0] === undefined ? 0 : atOf(row.calls[0]);
}

/** Whether a call failed. */
export function hasFailed({ call, outputs }: CallRow): boolean {
  return call?.item.error === true || outputs.some(({ item }) => item.error === true);
}

/** The key of the row that shows the item `key`, and of the group that it is folded into. */
export function rowOf(
  rows: readonly ChatRow[],
  key: string,
): { readonly row: string; readonly group?: string } | undefined {
  for (const row of rows) {
    if (row.kind === "group") {
      const call = row.calls.find((each) => holds(each, key));
      if (call !== undefined) return { row: call.key, group: row.key };
    } else if (row.kind === "call" ? holds(row, key) : row.key === key) return { row: row.key };
  }
  return undefined;
}

function holds({ call, outputs }: CallRow, key: string): boolean {
  return call?.key === key || outputs.some((output) => output.key === key);
}

/** Rows of one item each, but for outputs, which stand with their calls. */
function singleRows(items: readonly Held[]): (CallRow | ItemRow)[] {
  const drafts: (Draft | ItemRow)[] = [];
  const calls = new Map<string, Draft[]>();
  for (const held of items) {
    const { item, key } = held;
    if (item.kind !== "tool" || isMarker(item)) {
      const kind = item.kind === "tool" ? "marker" : item.kind === "subagent" ? "subagent" : "message";
      drafts.push({ kind, key, held, version: String(held.revision) });
      continue;
    }
    const call = item.of === undefined ? undefined : callOf(calls.get(item.of), item);
    if (call !== undefined) {
      call.outputs.push(held);
      continue;
    }
    const isOutput = item.of !== undefined || (item.summary === undefined && item.text !== undefined);
    const draft: Draft = { draft: true, call: isOutput ? undefined : held, outputs: isOutput ? [held] : [] };
    drafts.push(draft);
    if (!isOutput) calls.set(item.ref, [...(calls.get(item.ref) ?? []), draft]);
  }
  return drafts.map((draft) => ("draft" in draft ? finished(draft) : draft));
}

interface Draft {
  readonly draft: true;
  readonly call: Held | undefined;
  readonly outputs: Held[];
}

/** The call of a record that an output belongs to: one without an output yet, of that name where there are several. */
function callOf(calls: readonly Draft[] = [], { tool }: Item): Draft | undefined {
  const waiting = calls.filter(({ outputs }) => outputs.length === 0);
  return waiting.find(({ call }) => call?.item.tool === tool) ?? waiting[0] ?? calls.at(-1);
}

function finished({ call, outputs }: Draft): CallRow {
  const version = [call, ...outputs].map((held) => held?.revision ?? "").join(".");
  return { kind: "call", key: call?.key ?? outputs[0]?.key ?? "", call, outputs, version, grouped: false };
}

/**
 * `run` in groups. Those that were there (at `starts`) stay, unless what came in front of the first one fits into it;
 * what came in front is parted from its end, what came behind from its start.
 */
function inGroups(run: readonly CallRow[], starts: ReadonlySet<string>): CallRow[][] {
  const places = run.flatMap((row, place) => (place === 0 || starts.has(row.key) ? [place] : []));
  const isNew = places.length > 1 && !starts.has(run[0]?.key ?? "");
  if (isNew && (places[2] ?? run.length) <= GROUP_MOST) places.splice(1, 1);
  return places.flatMap((place, index) => {
    const part = run.slice(place, places[index + 1] ?? run.length);
    const rest = isNew && index === 0 ? part.length % GROUP_MOST : 0;
    return [...(rest > 0 ? [part.slice(0, rest)] : []), ...chunks(part.slice(rest))];
  });
}

function chunks(calls: readonly CallRow[]): CallRow[][] {
  return Array.from({ length: Math.ceil(calls.length / GROUP_MOST) }, (_, index) =>
    calls.slice(index * GROUP_MOST, (index + 1) * GROUP_MOST),
  );
}

function groupOf(calls: readonly CallRow[], { isOpen }: RowOptions): ChatRow[] {
  const [first] = calls;
  if (first === undefined || calls.length < GROUP_LEAST) return [...calls];
  const key = `group-${first.key}`;
  const open = isOpen(key);
  const version = `${open} ${calls.map((call) => call.version).join(" ")}`;
  const group: GroupRow = { kind: "group", key, calls, open, version };
  return open ? [group, ...calls.map((call) => ({ ...call, grouped: true }))] : [group];
}
