/** Characters of texts in one answer of a tool, unless asked otherwise: about 5,000 tokens. */
export const USUAL_CHARACTERS = 20_000;
const LEAST_CHARACTERS = 1_000;
const MOST_CHARACTERS = 200_000;

/** How many of `rows` one answer has room for: one at least. Some clients give their model the rows as JSON. */
export function fitting(rows: readonly object[]): number {
  let room = USUAL_CHARACTERS;
  const first = rows.findIndex((row) => {
    room -= JSON.stringify(row).length;
    return room < 0;
  });
  return first < 0 ? rows.length : Math.max(1, first);
}

/** The argument that sizes an answer. */
export const LIMIT = {
  type: "integer",
  minimum: LEAST_CHARACTERS,
  maximum: MOST_CHARACTERS,
  description: `About how many characters of text to return at most; ${USUAL_CHARACTERS} when absent. The rest is reached with a cursor.`,
} as const;

/** Which session a tool is about. */
export const SESSION = {
  type: "string",
  minLength: 1,
  maxLength: 300,
  description:
    "The session: its id, the beginning of its id, agent/id as list_sessions gives it, or the name of a live session (see peers).",
} as const;

/** A subagent of that session. */
export const CHILD = {
  type: "string",
  minLength: 1,
  maxLength: 128,
  description: "The id of a subagent of the session (see list_subagents), to read that one's chat instead.",
} as const;

/** A place that an earlier answer gave. */
export const CURSOR = {
  type: "string",
  minLength: 1,
  maxLength: 900,
  description: "Where to go on: a cursor of an earlier answer for the same session, exactly as it stands there.",
} as const;
