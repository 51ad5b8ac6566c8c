import type { EpochMs } from "../platform/clock.ts";
import { type Clipped, clip, clipBytes, oneLine } from "./clip.ts";
import type { Cursor } from "./cursor.ts";
import type { Entry, MarkerEntry, SubagentLink, ToolCallEntry, ToolResultEntry } from "./entry.ts";
import { PREVIEW_CHARACTERS, TEXT_CHARACTERS, UNCUT_BYTES } from "./limits.ts";
import { withoutAnsi } from "./printable.ts";
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
  /** Something was taken off `text` or `summary`. */
  readonly cut?: true;
}

/** One read of a chat. `next` is the `from` of the following read, also when `items` is empty. */
export interface Page {
  readonly items: readonly Item[];
  readonly next: Cursor;
  /** The cursor given no longer fitted: this page starts again at the beginning. */
  readonly reset?: true;
}

/** How long the texts of an item may be. */
export interface ItemLimits {
  text(value: string): Clipped;
  preview(value: string): Clipped;
}

/** The limits of a chat page: 16,000 characters of text, 1,200 of a tool's output or a summary. */
export const CHAT_LIMITS: ItemLimits = {
  text: (value) => clip(value, TEXT_CHARACTERS),
  preview: (value) => clip(value, PREVIEW_CHARACTERS),
};

/** The limits of `GET …/item`: 1 MiB of UTF-8 each. */
export const UNCUT_LIMITS: ItemLimits = {
  text: (value) => clipBytes(value, UNCUT_BYTES),
  preview: (value) => clipBytes(value, UNCUT_BYTES),
};

/** The name of an output whose call was not found. */
const UNNAMED_RESULT = "result";

/**
 * What a chat shows of `entry`, cut to `limits`; undefined for what is never shown (reasoning, usage, …). What was printed
 * is shown without its colours and moves.
 */
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

function callItem(entry: ToolCallEntry, limits: ItemLimits): Item {
  return item(
    entry,
    { kind: "tool", tool: entry.tool },
    {
      summary: limits.preview(
        entry.summary === undefined ? summarise(entry.tool, entry.input) : oneLine(entry.summary),
      ),
      text: entry.output === undefined ? undefined : limits.preview(withoutAnsi(entry.output)),
    },
    entry.isError,
  );
}

function resultItem(entry: ToolResultEntry, limits: ItemLimits): Item {
  const shape = { kind: "tool" as const, tool: entry.tool ?? UNNAMED_RESULT };
  const result = item(entry, shape, { text: limits.preview(withoutAnsi(entry.text)) }, entry.isError);
  return entry.of === undefined ? result : { ...result, of: entry.of };
}

function markerItem(entry: MarkerEntry, limits: ItemLimits): Item | undefined {
  if (entry.marker === "compact-summary") return undefined;
  return item(
    entry,
    { kind: "tool", tool: entry.marker },
    {
      summary: entry.summary === undefined ? undefined : limits.preview(oneLine(entry.summary)),
      text: entry.text === undefined ? undefined : limits.preview(withoutAnsi(entry.text)),
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
