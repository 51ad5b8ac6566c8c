import { Failure } from "../platform/failure.ts";
import type { JsonSchema, QueryParameter } from "../server/route.ts";
import { FOLDER_MOST, isFolderPath } from "../stores/projects.ts";
import { type Cursor, cursorOf, TAIL } from "../transcript/cursor.ts";
import { CURSOR_CHARACTERS } from "../transcript/limits.ts";
import { AGENT_NAMES, type AgentName } from "../transcript/names.ts";

/** Characters of a text that is searched for. */
const TEXT_MOST = 1_000;

/** A parameter that may stand once; `read` gets its text, which is not empty. */
export function once<T>(
  name: string,
  description: string,
  schema: JsonSchema,
  read: (text: string) => T,
): QueryParameter<T> {
  return { description, schema, read: (texts) => read(single(name, texts)) };
}

/** A whole number from `least` to `most`, written in decimal digits. */
export function integer(name: string, description: string, least: number, most: number): QueryParameter<number> {
  return once(name, description, { type: "integer", minimum: least, maximum: most }, (text) => {
    const number = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
    if (!(number >= least && number <= most)) {
      throw new Failure("bad-request", `${name} must be a whole number from ${least} to ${most}`);
    }
    return number;
  });
}

/** Any number that JSON can state, as JSON writes it. */
export function anyNumber(name: string, description: string): QueryParameter<number> {
  return once(name, description, { type: "number" }, (text) => {
    const number = /^-?(0|[1-9]\d{0,400})(\.\d{1,400})?([eE][+-]?\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
    if (!Number.isFinite(number)) throw new Failure("bad-request", `${name} must be a number`);
    return number;
  });
}

/** One of `words`. */
export function oneOf<W extends string>(name: string, description: string, words: readonly W[]): QueryParameter<W> {
  return once(name, description, { type: "string", enum: words }, (text) => {
    const word = words.find((each) => each === text);
    if (word === undefined) throw new Failure("bad-request", `${name} must be one of ${words.join(", ")}`);
    return word;
  });
}

/** `1` for yes, `0` for no. */
export function flag(name: string, description: string): QueryParameter<boolean> {
  const { schema, read } = oneOf(name, description, ["0", "1"]);
  return { description, schema, read: (texts) => read(texts) === "1" };
}

/** Any text of at most 1,000 characters. */
export function text(name: string, description: string): QueryParameter<string> {
  return once(name, description, { type: "string", minLength: 1, maxLength: TEXT_MOST }, (value) => {
    if (value.length > TEXT_MOST) throw new Failure("bad-request", `${name} may have at most ${TEXT_MOST} characters`);
    return value;
  });
}

/** The absolute path of a folder, which need not exist. */
export function folder(name: string, description: string): QueryParameter<string> {
  return once(name, description, { type: "string", minLength: 1, maxLength: FOLDER_MOST }, (path) => {
    if (!isFolderPath(path)) {
      throw new Failure("bad-request", `${name} must be the absolute path of a folder`);
    }
    return path;
  });
}

/** The name of an agent. */
export function agent(description: string): QueryParameter<AgentName> {
  return oneOf("agent", description, AGENT_NAMES);
}

/** A place in a chat. Whether it is one of that chat's kind, its store says later. */
export function cursor(name: string, description: string): QueryParameter<Cursor> {
  return once(name, description, CURSOR_SCHEMA, cursorOf);
}

/** A place in a chat, or `tail` for its last page. */
export function cursorOrTail(name: string, description: string): QueryParameter<Cursor | "tail"> {
  return once(name, description, CURSOR_SCHEMA, readCursorOrTail);
}

/** `tail`, or a cursor. @throws Failure bad-request */
export function readCursorOrTail(text: string): Cursor | "tail" {
  return text === TAIL ? text : cursorOf(text);
}

/** A cursor in a query. */
export const CURSOR_SCHEMA: JsonSchema = { type: "string", minLength: 1, maxLength: CURSOR_CHARACTERS };

function single(name: string, texts: readonly string[]): string {
  const [text, ...others] = texts;
  if (text === undefined || text === "") throw new Failure("bad-request", `${name} is empty; leave it out instead`);
  if (others.length > 0) throw new Failure("bad-request", `${name} may stand only once`);
  return text;
}
