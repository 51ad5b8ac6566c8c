import { BytePool } from "../../jsonl/buffers.ts";
import { byteOffsetOf, FILE_START } from "../../jsonl/cursor.ts";
import { pageBuffer, readPage, readPageBefore } from "../../jsonl/page.ts";
import type { EpochMs } from "../../platform/clock.ts";
import type { OpenFile } from "../../platform/files.ts";
import { asString, asText } from "../../platform/read.ts";
import { clip, oneLine } from "../../transcript/clip.ts";
import { PAGE_BYTES, TITLE_CHARACTERS } from "../../transcript/limits.ts";
import { walkLines } from "./lines.ts";
import { eventsOf, isCommandRecord, type RecordedEvent } from "./record.ts";
import { blocksText } from "./value-text.ts";

/** Bytes at a recording's start in which its first prompt is looked for. */
const HEAD_BYTES = 2 * 1024 * 1024;
/** Most recordings tell all that a list shows in so few bytes at either end. */
const FIRST_BYTES = 32 * 1024;
/** Longer lines are not read at all. */
const LONG_LINE_BYTES = 32 * 1024 * 1024;

/** What a list shows of a recording. */
export interface RecordedFacts {
  /** Its first prompt on one line; undefined when none stands near its start. */
  readonly title: string | undefined;
  readonly cwd: string;
  readonly model: string | undefined;
  readonly startedAt: EpochMs | undefined;
  readonly updatedAt: EpochMs;
}

/** What stands in a file, or why it is no agent's session. */
export type Reading =
  | { readonly kind: "session"; readonly facts: RecordedFacts }
  /** Nothing can be read in it as yet. */
  | { readonly kind: "blank"; readonly reason: string }
  | { readonly kind: "skipped"; readonly reason: string };

/** Reads the two ends of a recording. */
export async function factsOf(open: OpenFile): Promise<Reading> {
  const head = await headOf(open);
  const tail = await tailOf(open);
  if (!head.any && !tail.any && !head.command) await lookAtLongLines(open, head);
  if (!head.any && !tail.any) {
    if (head.command) return { kind: "skipped", reason: "the recording of a plain command" };
    return { kind: "blank", reason: open.size === 0 ? "nothing is recorded yet" : "no record can be read in it" };
  }
  const written = Number(open.stamp.mtimeNs / 1_000_000n) as EpochMs;
  return {
    kind: "session",
    facts: {
      title: head.title,
      cwd: head.cwd ?? tail.cwd ?? "",
      model: tail.model ?? head.model,
      startedAt: head.startedAt,
      updatedAt: tail.updatedAt ?? written,
    },
  };
}

interface Head {
  any: boolean;
  command: boolean;
  title: string | undefined;
  cwd: string | undefined;
  model: string | undefined;
  startedAt: EpochMs | undefined;
}

async function headOf(open: OpenFile): Promise<Head> {
  const head: Head = {
    any: false,
    command: false,
    title: undefined,
    cwd: undefined,
    model: undefined,
    startedAt: undefined,
  };
  let cursor = FILE_START;
  for (let bytes = FIRST_BYTES; cursor.offset < HEAD_BYTES; bytes = PAGE_BYTES) {
    const page = await readPage(open, cursor, pageBuffer(bytes));
    for (const line of page.lines) {
      if (line.kind === "oversized") continue;
      const events = eventsOf(line.bytes);
      if (events.length === 0 && line.start === 0 && isCommandRecord(line.bytes)) {
        head.command = true;
      }
      for (const event of events) noteHead(head, event);
      if (head.title !== undefined) return head;
    }
    if (page.next.offset === cursor.offset && page.next.discarding === cursor.discarding) return head;
    // A line that only outgrew the first little read is read again as a whole.
    cursor = page.next.discarding && bytes === FIRST_BYTES ? cursor : page.next;
  }
  return head;
}

/** Lines that are too long for a page of a chat are read for the list only where there is nothing else to read. */
async function lookAtLongLines(open: OpenFile, head: Head): Promise<void> {
  const size = Math.min(open.size, HEAD_BYTES + LONG_LINE_BYTES);
  const source = { size, read: (target: Uint8Array, place: number) => open.read(target, place) };
  await walkLines(source, { from: 0, to: Math.min(size, HEAD_BYTES) }, new BytePool(), ({ bytes }) => {
    if (bytes === undefined || bytes.length <= PAGE_BYTES) return undefined;
    for (const event of eventsOf(bytes)) noteHead(head, event);
    return head.any ? "enough" : undefined;
  });
}

function noteHead(head: Head, event: RecordedEvent): void {
  const { kind, fields, at } = event;
  head.any = true;
  head.startedAt ??= at;
  head.cwd ??= asText(fields.cwd);
  head.model ??= asText(fields.model);
  if (kind !== "user-prompt") return;
  const text = asString(fields.text) ?? blocksText(fields.blocks) ?? asString(fields.prompt) ?? "";
  const title = oneLine(text.slice(0, TITLE_CHARACTERS * 16));
  // A cut string would keep the whole text it was cut from in memory for as long as it is listed.
  if (title !== "") head.title = Buffer.from(clip(title, TITLE_CHARACTERS).text).toString();
}

interface Tail {
  any: boolean;
  cwd: string | undefined;
  model: string | undefined;
  updatedAt: EpochMs | undefined;
}

async function tailOf(open: OpenFile): Promise<Tail> {
  for (const bytes of [FIRST_BYTES, PAGE_BYTES]) {
    const tail: Tail = { any: false, cwd: undefined, model: undefined, updatedAt: undefined };
    const { lines } = await readPageBefore(open, byteOffsetOf(open.size), pageBuffer(bytes));
    for (const line of lines.toReversed()) {
      if (line.kind === "oversized") continue;
      for (const { fields, at } of eventsOf(line.bytes).reverse()) {
        tail.any = true;
        tail.updatedAt ??= at;
        tail.cwd ??= asText(fields.cwd);
        tail.model ??= asText(fields.model);
      }
      if (tail.updatedAt !== undefined && tail.model !== undefined) return tail;
    }
    if (tail.updatedAt !== undefined || bytes === PAGE_BYTES || open.size <= bytes) return tail;
  }
  throw new Error("a recording's end was not looked at");
}
