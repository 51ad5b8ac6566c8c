import { asObject } from "../platform/read.ts";
import type { JsonSchema } from "../server/route.ts";
import { PREVIEW_CHARACTERS, TEXT_CHARACTERS, TITLE_CHARACTERS } from "../transcript/limits.ts";
import { AGENT_NAMES } from "../transcript/names.ts";

// Fields are only ever added to answers, so no schema forbids further ones.

/** An object with `required` fields and `optional` ones. */
export function object(
  required: { readonly [field: string]: JsonSchema },
  optional: { readonly [field: string]: JsonSchema } = {},
): JsonSchema {
  return { type: "object", properties: { ...required, ...optional }, required: Object.keys(required) };
}

/** A list of `items`. */
export function list(items: JsonSchema, maxItems?: number): JsonSchema {
  return { type: "array", items, ...(maxItems !== undefined && { maxItems }) };
}

/** `schema`, or null. */
export function orNull(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: "null" }] };
}

/** Any text. */
export const TEXT: JsonSchema = { type: "string" };
/** A count. */
export const COUNT: JsonSchema = { type: "integer", minimum: 0 };
/** A time. */
export const TIME: JsonSchema = { type: "integer", description: "Milliseconds since the Unix epoch." };
/** An agent. */
export const AGENT: JsonSchema = { type: "string", enum: AGENT_NAMES };
/** The id of a session or of a child. */
export const ID: JsonSchema = { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$" };
const TITLE: JsonSchema = { type: "string", maxLength: TITLE_CHARACTERS };
const CURSOR: JsonSchema = { type: "string", description: "A place in a chat; opaque." };
/** A flag that is there or not. */
export const YES: JsonSchema = { const: true };

/** One thing that a chat shows. */
export const ITEM: JsonSchema = withMore(
  item(
    { type: "string", maxLength: TEXT_CHARACTERS },
    { type: "string", maxLength: PREVIEW_CHARACTERS },
    "Something was taken off; `item?ref=` gives it whole.",
  ),
  {
    earlier: {
      ...YES,
      description:
        "It began before this page: its place is further up, where it stands as it is told here. Of its id; its ref is no end of this page.",
    },
  },
);

/** `schema`, of an object, with more optional fields. */
function withMore(schema: JsonSchema, more: { readonly [field: string]: JsonSchema }): JsonSchema {
  return { ...schema, properties: { ...asObject(schema.properties), ...more } };
}

function item(text: JsonSchema, summary: JsonSchema, cut: string): JsonSchema {
  return object(
    { kind: { type: "string", enum: ["user", "assistant", "tool", "subagent"] }, at: TIME, ref: CURSOR },
    {
      text,
      tool: TEXT,
      summary,
      subagent: object({ id: ID, title: TITLE, agent: AGENT }),
      id: { type: "string", description: "An item that comes again with this id replaces the earlier one." },
      of: { ...CURSOR, description: "On an output: the ref of its call." },
      error: YES,
      cut: { ...YES, description: cut },
    },
  );
}

/** A page of a chat. */
export const PAGE: JsonSchema = object(
  { items: list(ITEM) },
  {
    next: { ...CURSOR, description: "The `from` of the next read, also when `items` is empty. Absent with `before`." },
    prev: {
      ...orNull(CURSOR),
      description: "Only with `before` and `from=tail`: the `before` of the page before this one; null at the start.",
    },
    reset: { ...YES, description: "The cursor no longer fitted: this page starts again at the beginning." },
  },
);

/** One thing that a chat shows, uncut. */
export const UNCUT_ITEM: JsonSchema = item(TEXT, TEXT, "Something was taken off all the same: it is over 1 MiB.");

const DIFF: JsonSchema = object({
  path: TEXT,
  oldText: { ...orNull(TEXT), description: "Null where the file is new." },
  newText: TEXT,
});

const CALL_PARTS = {
  input: {
    description: "On a call: its input as the store holds it. Left out, with `cut`, where its JSON is over 1 MiB.",
  },
  diffs: {
    ...list(DIFF),
    description: "On a call of a recording: the changes of files that its agent told. As `input`.",
  },
};

/** The items of one record, uncut. */
export const UNCUT_ITEMS: JsonSchema = object({
  items: list(withMore(UNCUT_ITEM, CALL_PARTS)),
});

/** A child of a session. */
export const SUBAGENT: JsonSchema = object(
  {
    id: ID,
    title: TITLE,
    status: { type: "string", enum: ["unknown", "running", "done", "interrupted", "failed"] },
    startedAt: TIME,
    updatedAt: TIME,
  },
  { parent: ID },
);

/** The children of a session. */
export const SUBAGENTS: JsonSchema = object({ subagents: list(SUBAGENT, 200) });

const ROW_FIELDS = {
  agent: AGENT,
  id: ID,
  title: TITLE,
  cwd: { type: "string", description: "The folder it started in; empty when the store does not say." },
  startedAt: TIME,
  updatedAt: TIME,
};

const ROW_MORE = {
  branch: TEXT,
  bytes: COUNT,
  model: TEXT,
  parent: ID,
  live: object({ pid: COUNT }, { activity: TEXT }),
  resume: object({ command: list(TEXT), cwd: TEXT }),
};

/** A session in a list. */
export const ROW: JsonSchema = object(ROW_FIELDS, ROW_MORE);

/** The sessions of a project in a list. */
export const PROJECT: JsonSchema = object({
  project: {
    type: "string",
    description:
      "The git working tree that the sessions' folder lies in, else that folder; empty for sessions whose folder is not known.",
  },
  sessions: COUNT,
  live: { ...COUNT, description: "How many of the sessions a process is known to have open now." },
  updatedAt: TIME,
  agents: list(AGENT),
});

/** Counts of tokens, each where the store gives it. */
export const TOKENS: JsonSchema = object(
  {},
  { input: COUNT, output: COUNT, cacheRead: COUNT, cacheWrite: COUNT, reasoning: COUNT },
);

/** A session with its totals. */
export const ENTRY: JsonSchema = object(ROW_FIELDS, {
  ...ROW_MORE,
  tokens: TOKENS,
  costUsd: { type: "number" },
  counting: { ...YES, description: "The totals are being counted; ask again." },
});

/** What changed in the list of sessions. */
export const LIST_CHANGE: JsonSchema = object(
  { generation: COUNT, ids: list(ID, 100) },
  { more: { ...YES, description: "More than `ids` names changed: list again." } },
);

/** A record of a recording; its further fields are those of its kind. */
export const RECORD: JsonSchema = object(
  { seq: { type: "number", description: "Its number: from 1, one more each." } },
  { ts: TEXT, kind: TEXT, sessionId: TEXT },
);

/** A page of the records of a session. */
export const RECORDS: JsonSchema = object({
  sessionId: ID,
  events: list(RECORD),
  nextSeq: { type: "number", description: "The `since` of the next read, also when `events` is empty." },
  complete: { type: "boolean", description: "There is nothing more now." },
});
