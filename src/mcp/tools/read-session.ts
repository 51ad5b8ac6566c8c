import { Failure } from "../../platform/failure.ts";
import { asObject } from "../../platform/read.ts";
import { wrongRef } from "../../routes/chat.ts";
import { AGENT, ID, list, object, orNull, TEXT, UNCUT_ITEM } from "../../routes/schemas.ts";
import { cursorOf, START } from "../../transcript/cursor.ts";
import { itemTexts } from "../item-text.ts";
import { CHILD, CURSOR, LIMIT, SESSION, USUAL_CHARACTERS } from "../limits.ts";
import { placeOf, placeText, wrongCursor } from "../place.ts";
import { type Part, type Reading, readBack, readOn, readRecord } from "../reading.ts";
import { READS, tool } from "../tool.ts";
import { framed, NOTICE } from "../untrusted.ts";

const NEXT = { ...TEXT, description: "The cursor of what follows, also of what will be written later." };
const PREV = { ...orNull(TEXT), description: "The cursor of what stands before; null at the start of the chat." };
const SHOWN_ITEM = {
  ...UNCUT_ITEM,
  properties: {
    ...asObject(UNCUT_ITEM.properties),
    cut: { const: true, description: "This is not all of it; its `ref` gives the whole." },
  },
};

/** `read_session`: a chat, in parts. */
export const readSession = tool({
  name: "read_session",
  title: "Read a session",
  description:
    "Reads the chat of a coding agent's session on this machine: what the user said, what the agent answered, its tool calls with their results, and where subagents were started. " +
    "Begins at the start of the chat; with `tail` at its end. Answers hold about `limit` characters; call again with the answer's `next` cursor for what follows, or with `prev` for what stands before. " +
    "Long texts are cut (items say `cut`): call with the item's `ref` to get it whole.",
  input: {
    session: SESSION,
    child: CHILD,
    cursor: CURSOR,
    tail: { type: "integer", minimum: 1, maximum: 1_000, description: "Only the last so many items." },
    ref: { type: "string", minLength: 1, maxLength: 256, description: "The `ref` of an item: gives that one uncut." },
    limit: LIMIT,
  },
  required: ["session"],
  output: object(
    {
      notice: TEXT,
      session: object({ agent: AGENT, id: ID }, { child: ID }),
      items: list(SHOWN_ITEM),
      complete: { type: "boolean", description: "Nothing more follows now." },
    },
    {
      next: NEXT,
      prev: PREV,
      reset: {
        const: true,
        description:
          "The transcript was replaced: these items are of the new one (its first, unless `prev` stands here).",
      },
    },
  ),
  hints: READS,
  async run({ session, child, cursor, tail, ref, limit = USUAL_CHARACTERS }, { host, signal }) {
    if ([cursor, tail, ref].filter((given) => given !== undefined).length > 1) {
      throw new Failure("bad-request", "cursor, tail and ref can't stand together: give one of them");
    }
    const { chat } = await host.asked(session, child);
    const { pages } = await host.histories();
    const reading = { chat, pages, limit, signal };
    const part = await (ref === undefined ? partAt(reading, cursor, tail) : wholeAt(reading, ref));
    const { items, next, prev, complete, reset } = part;
    const { agent, id, child: of } = chat.ref;
    const isBack = prev !== undefined;
    const places = {
      ...(next !== undefined && { next: placeText(next) }),
      ...(prev !== undefined && { prev: prev && placeText(prev) }),
    };
    const named = { agent, id, ...(of !== undefined && { child: of }) };
    return {
      structured: { notice: NOTICE, session: named, items, complete, ...places, ...(reset && { reset }) },
      text: [
        `${agent}/${id}${of === undefined ? "" : ` subagent ${of}`}: ${items.length} item${items.length === 1 ? "" : "s"}`,
        ...(reset
          ? [`The transcript was replaced: ${isBack ? "these items are of the new one" : "this is its beginning"}.`]
          : []),
        items.length === 0 ? "(nothing here)" : framed((word) => itemTexts(items, word)),
        ...(places.prev ? [`before this: cursor ${places.prev}`] : []),
        ...(prev === null ? ["This is the start of the chat."] : []),
        ...(places.next === undefined ? [] : [`${complete ? "later" : "more"}: cursor ${places.next}`]),
      ].join("\n"),
    };
  },
});

async function partAt(reading: Reading, cursor: string | undefined, tail: number | undefined): Promise<Part> {
  if (tail !== undefined) return readBack(reading, { way: "back", at: "tail" }, tail);
  if (cursor === undefined) return readOn(reading, { way: "on", at: START });
  const place = placeOf(cursor);
  try {
    switch (place.way) {
      case "on":
        return await readOn(reading, place);
      case "back":
        return await readBack(reading, place);
      case "record":
        return await readRecord(reading, place.at, place.offset);
    }
  } catch (error) {
    throw wrongCursor(error);
  }
}

async function wholeAt(reading: Reading, ref: string): Promise<Part> {
  try {
    return await readRecord(reading, cursorOf(ref), 0);
  } catch (error) {
    return wrongRef(error);
  }
}
