import { oneLine } from "../transcript/clip.ts";
import type { RunStatus } from "./names.ts";

/** How far further lines of an entry are indented. */
export const INDENT = " ".repeat(9);

/** An entry's own line: a local time of day, then its text. */
const STAMPED = /^\d\d:\d\d:\d\d /;

/** What the first entry of a log says. */
export interface LogHead {
  /** Its first line, without the time: agent, model, folder, access, who asked. */
  readonly header: string;
  /** The prompt's lines as one. */
  readonly task: string;
  readonly agent?: string;
  readonly workdir?: string;
  readonly by?: string;
  readonly continues?: string;
}

/** What the last entry of a log says. */
export interface LogEnd {
  /** Its lines as one, without the time. */
  readonly last: string;
  /** How the run ended; absent while the log has no finish entry at its end. */
  readonly outcome?: Exclude<RunStatus, "running">;
}

/** The head of a log from its first characters: as many as there are, or enough for a header and some of the prompt. */
export function logHead(text: string): LogHead {
  const lines = linesOf(text);
  const first = lines[0] ?? "";
  const next = lines.findIndex((line, i) => i > 0 && STAMPED.test(line));
  const rest = lines.slice(1, next < 0 ? undefined : next).map(unindented);
  // A prompt may hold a line of dashes itself.
  const end = rest.lastIndexOf("---");
  const header = first.replace(STAMPED, "").trimEnd();
  return { header, task: oneLine((end < 0 ? rest : rest.slice(0, end)).join(" ")), ...headerFields(header) };
}

/** The end of a log from its last entry; a last line without its newline may be half written. */
export function logEnd(entry: string): LogEnd {
  const lines = linesOf(entry);
  // The beginning of the next entry's time is no part of this one.
  if (lines.length > 1 && /^\d[\d:]{0,7}$/.test(lines.at(-1) ?? "")) lines.pop();
  const own = (lines[0] ?? "").replace(STAMPED, "").trimEnd();
  const last = oneLine([own, ...lines.slice(1).map(unindented)].join(" "));
  const outcome = STAMPED.test(entry) ? outcomeOf(own, entry.includes("\n")) : undefined;
  return { last, ...(outcome !== undefined && { outcome }) };
}

/** The index of the last entry in `bytes`, which follow a newline; -1 when none begins there. */
export function lastEntryIn(bytes: Uint8Array): number {
  // Byte by byte: megabytes of short lines would keep others waiting if a text were made of each.
  for (let start = bytes.length - STAMP_BYTES; start >= 0; start--) {
    if (bytes[start + 2] === COLON && (start === 0 || bytes[start - 1] === NEWLINE) && isStamped(bytes, start)) {
      return start;
    }
  }
  return -1;
}

const [NEWLINE, COLON, SPACE] = [0x0a, 0x3a, 0x20];
/** `hh:mm:ss` and a space. */
const STAMP_BYTES = 9;

/** As STAMPED says of a text. */
function isStamped(bytes: Uint8Array, start: number): boolean {
  if (bytes[start + 2] !== COLON || bytes[start + 5] !== COLON || bytes[start + 8] !== SPACE) return false;
  return [0, 1, 3, 4, 6, 7].every((at) => /\d/.test(String.fromCharCode(bytes[start + at] ?? 0)));
}

/** An entry as it stands in a log: its further lines indented, so that none of them is taken for an entry. */
export function entryText(timeOfDay: string, text: string): string {
  return `${timeOfDay} ${text.split(/\r\n|\n|\r/).join(`\n${INDENT}`)}\n`;
}

function outcomeOf(line: string, whole: boolean): LogEnd["outcome"] {
  const [, outcome] = /^finished after -?\d+(?:\.\d+)?s · (.*)$/s.exec(line) ?? [];
  if (outcome === undefined) return undefined;
  switch (outcome) {
    case "done":
      return "done";
    case "interrupted":
    case "cancelled":
      return "interrupted";
  }
  const torn = !whole && ["done", "interrupted", "cancelled"].some((word) => word.startsWith(outcome));
  return torn ? undefined : "failed";
}

/**
 * `<agent>[ (<model>[, effort <e>])] in <workdir>, access <a>, by <peer>[, continues <session>]`; a folder may hold commas.
 * Read part by part: one pattern for all of it takes seconds for a line that was made to fit it in many ways.
 */
function headerFields(header: string): Pick<LogHead, "agent" | "workdir" | "by" | "continues"> {
  const [before, agent] = /^([\w-]+)(?: \(.*?\))? in /s.exec(header) ?? [];
  if (before === undefined || agent === undefined) return {};
  const rest = header.slice(before.length);
  const access = [...rest.matchAll(/, access (?:read|edit|ask|default), by /g)].at(-1);
  if (access === undefined) return {};
  const asker = rest.slice(access.index + access[0].length);
  const [after = "", continues] = /, continues (\S+)$/.exec(asker) ?? [];
  const by = asker.slice(0, asker.length - after.length);
  return { agent, workdir: rest.slice(0, access.index), by, ...(continues !== undefined && { continues }) };
}

function linesOf(text: string): string[] {
  return text.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

function unindented(line: string): string {
  return line.startsWith(INDENT) ? line.slice(INDENT.length) : line.trimStart();
}
