import { utf8Of } from "./text.ts";

/**
 * The records of one line. Mostly one; none where the line is broken; several where a crash glued a record to the rest
 * of an older one (seen in Claude Code's files, also with runs of NUL bytes between). A byte-order mark and NUL bytes
 * are passed over, damaged UTF-8 becomes U+FFFD. Never throws.
 */
export function parseRecords(line: Buffer): unknown[] {
  const text = utf8Of(line);
  const record = parse(text);
  if (record !== undefined) return [record];
  const clean = text.replace(/^\ufeff/, "").replaceAll("\0", "");
  if (clean === text) return salvage(text);
  const cleaned = parse(clean);
  return cleaned === undefined ? salvage(clean) : [cleaned];
}

/**
 * Where a record may begin on a line that is not one: at its start, behind the end of another, or, since the end of a
 * torn one can look like anything, with a key that every known writer begins records with. Blocks inside a record begin
 * so too; they are told by what stands behind them.
 */
const RECORD_START = /(?<=^\s*|\}\s*)\{|\{"(?:parentUuid|type|timestamp|seq)"/g;

/** How many characters are passed in all while ends of records are looked for, so that a long broken line stays cheap. */
const mostCharacters = (text: string): number => 64 * 1024 + 4 * text.length;

/** The whole records that can be read on a line that is not one. */
function salvage(text: string): unknown[] {
  const records: unknown[] = [];
  let passed = 0;
  let end = 0;
  for (const { index: start } of text.matchAll(RECORD_START)) {
    if (start < end) continue;
    if (passed > mostCharacters(text)) break;
    const close = objectEnd(text, start);
    passed += (close ?? text.length) - start;
    if (close === undefined || !endsRecord(text, close)) continue;
    const record = parse(text.slice(start, close));
    if (record === undefined) continue;
    records.push(record);
    end = close;
  }
  return records;
}

/** Whether a record may end before `at`: nothing or another record follows, where behind an inner object a `,` or `]` does. */
function endsRecord(text: string, at: number): boolean {
  const rest = /\S/g;
  rest.lastIndex = at;
  const next = rest.exec(text)?.[0];
  return next === undefined || next === "{";
}

const QUOTE = 0x22;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Behind the brace that closes the one at `start`, strings passed over; undefined where none does. */
function objectEnd(text: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) at = stringEnd(text, at + 1) - 1;
    else if (character === OPEN) depth++;
    else if (character === CLOSE && --depth === 0) return at + 1;
  }
  return undefined;
}

/** Behind the quote that closes the string whose first character is at `start`, or the end of the text. */
function stringEnd(text: string, start: number): number {
  for (let quote = text.indexOf('"', start); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
  }
  return text.length;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
