import type { EpochMs } from "../platform/clock.ts";
import { isNestedAtMost } from "../platform/read.ts";
import { type Clipped, clip, clipBytes, oneLine } from "./clip.ts";
import type { Cursor } from "./cursor.ts";
import type { Entry, FileDiff, MarkerEntry, SubagentLink, ToolCallEntry, ToolResultEntry } from "./entry.ts";
import { PREVIEW_CHARACTERS, TEXT_CHARACTERS, UNCUT_BYTES } from "./limits.ts";
import { withColours, withoutAnsi, withoutHalfColour } from "./printable.ts";
import { summarise } from "./summary.ts";

/** What a chat shows of an entry: the item of D (`kind` … `id`), then what the contract adds. */
export interface Item {
  readonly kind: "user" | "assistant" | "tool" | "subagent";
  /** Milliseconds since the epoch. */
  readonly at: EpochMs;
  readonly text?: string;
  readonly tool?: string;
  readonly summary?: string;
  readonly subagent?: SubagentLink;
  readonly id?: string;
  /** The position of the record; accepted as `from`, and by `…/item?ref=`. */
  readonly ref: Cursor;
  /** On an output: the `ref` of its call. */
  readonly of?: Cursor;
  readonly error?: true;
  /** Its place is further up, before the page that tells it; there it stands as it is told here. */
  readonly earlier?: true;
  /** Something was taken off `text` or `summary`, or is left out of `input` or `diffs`. */
  readonly cut?: true;
  /** On a call that is told whole: its input as the store holds it, parsed where it is JSON, else text. */
  readonly input?: unknown;
  /** On a call that is told whole: the changes of files that its agent told beside its input. */
  readonly diffs?: readonly FileDiff[];
}

/** One read of a chat. `next` is the `from` of the following read, also when `items` is empty. */
export interface Page {
  readonly items: readonly Item[];
  readonly next: Cursor;
  /** The cursor given no longer fitted: this page starts again at the beginning. */
  readonly reset?: true;
}

/** How much of an entry its item tells. */
export interface ItemLimits {
  text(value: string): Clipped;
  preview(value: string): Clipped;
  /** What a tool or a command printed. */
  printed(value: string): Clipped;
  /** Whether an item has room for this: its call's input, or its diffs. Without this, no item has any. */
  hasRoom?(value: unknown): boolean;
}

/** The limits of a chat page: 16,000 characters of text, 1,200 of a tool's output or a summary. */
export const CHAT_LIMITS: ItemLimits = {
  text: (value) => clip(value, TEXT_CHARACTERS),
  preview: (value) => clip(value, PREVIEW_CHARACTERS),
  printed: (value) => clip(withoutAnsi(value), PREVIEW_CHARACTERS),
};

/** The limits of texts that are told uncut: 1 MiB of UTF-8 each. */
export const UNCUT_LIMITS: ItemLimits = {
  text: (value) => clipBytes(value, UNCUT_BYTES),
  preview: (value) => clipBytes(value, UNCUT_BYTES),
  printed: (value) => clipBytes(withoutAnsi(value), UNCUT_BYTES),
};

/** The limits of `GET …/item`: calls come with their input and diffs, 1 MiB of JSON each; with `ansi`, outputs in their colours. */
export function wholeLimits({ ansi }: { readonly ansi: boolean }): ItemLimits {
  const hasRoom = (value: unknown): boolean => isJsonWithin(UNCUT_BYTES, value);
  return ansi ? { ...UNCUT_LIMITS, printed: coloured, hasRoom } : { ...UNCUT_LIMITS, hasRoom };
}

function coloured(value: string): Clipped {
  const { text, cut } = clipBytes(withColours(value), UNCUT_BYTES);
  return cut ? { text: withoutHalfColour(text), cut } : { text, cut };
}

/** Deeper JSON can't be written everywhere, and no tool's input is. */
const MOST_LEVELS = 500;

function isJsonWithin(bytes: number, value: unknown): boolean {
  return isNestedAtMost(MOST_LEVELS, value) && Buffer.byteLength(JSON.stringify(value)) <= bytes;
}

/** The name of an output whose call was not found. */
const UNNAMED_RESULT = "result";

/** What a chat shows of `entry`, cut to `limits`; undefined for what is never shown (reasoning, usage, …). */
export function toItem(entry: Entry, limits: ItemLimits = CHAT_LIMITS): Item | undefined {
  switch (entry.kind) {
    case "user":
    case "assistant":
      return item(entry, { kind: entry.kind }, { text: limits.text(entry.text) });
    case "tool-call":
      return callItem(entry, limits);
    case "tool-result":
      return resultItem(entry, limits);
    case "subagent":
      return item({ ...entry, id: `sub-${entry.subagent.id}` }, { kind: "subagent", subagent: entry.subagent }, {});
    case "marker":
      return markerItem(entry, limits);
    case "reasoning":
    case "usage":
      return undefined;
  }
}

/** The items of `entries`, in their order. */
export function toItems(entries: readonly Entry[], limits: ItemLimits = CHAT_LIMITS): Item[] {
  return entries.flatMap((entry) => toItem(entry, limits) ?? []);
}

/** The items of a page of a chat; `earlier` are the ids of those that began before it. */
export function pageItems(page: {
  readonly entries: readonly Entry[];
  readonly earlier?: ReadonlySet<string>;
}): Item[] {
  const items = toItems(page.entries);
  const { earlier } = page;
  if (earlier === undefined) return items;
  return items.map((item) => (item.id !== undefined && earlier.has(item.id) ? { ...item, earlier: true } : item));
}

function callItem(entry: ToolCallEntry, limits: ItemLimits): Item {
  const call = item(
    entry,
    { kind: "tool", tool: entry.tool },
    {
      summary: limits.preview(
        entry.summary === undefined ? summarise(entry.tool, entry.input) : oneLine(entry.summary),
      ),
      text: entry.output === undefined ? undefined : limits.printed(entry.output),
    },
    entry.isError,
  );
  return limits.hasRoom === undefined ? call : withParts(call, entry, limits.hasRoom);
}

/** `call` with its input and diffs, as far as there is room. */
function withParts(call: Item, { input, diffs }: ToolCallEntry, hasRoom: (value: unknown) => boolean): Item {
  const parts = Object.entries({ input, diffs }).filter(([, value]) => value !== undefined);
  const fitting = parts.filter(([, value]) => hasRoom(value));
  return { ...call, ...(fitting.length < parts.length && { cut: true }), ...Object.fromEntries(fitting) };
}

function resultItem(entry: ToolResultEntry, limits: ItemLimits): Item {
  const shape = { kind: "tool" as const, tool: entry.tool ?? UNNAMED_RESULT };
  const result = item(entry, shape, { text: limits.printed(entry.text) }, entry.isError);
  return entry.of === undefined ? result : { ...result, of: entry.of };
}

function markerItem(entry: MarkerEntry, limits: ItemLimits): Item | undefined {
  if (entry.marker === "compact-summary") return undefined;
  return item(
    entry,
    { kind: "tool", tool: entry.marker },
    {
      summary: entry.summary === undefined ? undefined : limits.preview(oneLine(entry.summary)),
      text: entry.text === undefined ? undefined : limits.printed(entry.text),
    },
    entry.isError,
  );
}

/** Puts an item together, leaving out every field that has nothing to say. */
function item(
  entry: { readonly at: EpochMs; readonly pos: Cursor; readonly id?: string },
  shape: Pick<Item, "kind" | "tool" | "subagent">,
  texts: { readonly text?: Clipped | undefined; readonly summary?: Clipped | undefined },
  isError?: boolean,
): Item {
  const { text, summary } = texts;
  // Set one by one: spreading a small object for each field takes twice as long.
  const made: { -readonly [K in keyof Item]?: Item[K] } = { kind: shape.kind, at: entry.at };
  if (text !== undefined) made.text = text.text;
  if (shape.tool !== undefined) made.tool = shape.tool;
  if (summary !== undefined) made.summary = summary.text;
  if (shape.subagent !== undefined) made.subagent = shape.subagent;
  if (entry.id !== undefined) made.id = entry.id;
  made.ref = entry.pos;
  if (isError) made.error = true;
  if (text?.cut || summary?.cut) made.cut = true;
  return made as Item;
}
