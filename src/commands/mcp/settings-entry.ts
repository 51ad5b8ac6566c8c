import { isDeepStrictEqual } from "node:util";
import { Failure } from "../../platform/failure.ts";
import { asObject, type JsonObject } from "../../platform/read.ts";
import { jsonOf, withJsonValue } from "./json-text.ts";

/** The name under which this server stands in settings. */
export const NAME = "agent-bridge";

/** How settings are written. Both throw SyntaxError with what is wrong. */
export interface Form {
  /** A text that says nothing. */
  readonly empty: string;
  read(text: string): unknown;
  /** The text with `value` under `path`, in the place of what is there. */
  with(text: string, path: readonly [string, string], value: unknown): string;
}

/** JSON in which comments may stand. */
export const JSON_TEXT: Form = { empty: "{}\n", read: jsonOf, with: withJsonValue };

/**
 * The settings `text` with `entry` as the server `NAME` under `key`; undefined when it is there already. All else is as it was:
 * what comes of it is read again before it is given.
 * @throws SyntaxError: it can't be read, or holds no table of servers · Failure conflict: another entry is there and `force` is
 * not given, or it is written in a form that can't be changed
 */
export function withEntry(
  text: string | undefined,
  form: Form,
  key: string,
  entry: JsonObject,
  force: boolean,
): string | undefined {
  const given = text === undefined || text.trim() === "" ? form.empty : text;
  const before = asObject(form.read(given));
  if (before === undefined) throw new SyntaxError("it is no object");
  const servers = Object.hasOwn(before, key) ? before[key] : {};
  const held = asObject(servers);
  if (held === undefined)
    throw new SyntaxError(`${key} is ${Array.isArray(servers) ? "a list" : "a value"}, no table of servers`);
  const found = Object.hasOwn(held, NAME) ? held[NAME] : undefined;
  if (holds(found, entry)) return undefined;
  if (found !== undefined && !force) throw other();
  const changedText = form.with(given, [key, NAME], entry);
  if (!isDeepStrictEqual(readAgain(form, changedText), { ...before, [key]: { ...held, [NAME]: entry } })) {
    const what = found === undefined ? key : `the entry ${NAME}`;
    throw new Failure("conflict", `${what} is written there in a form that can't be changed here: change it by hand`);
  }
  return changedText;
}

function readAgain({ read }: Form, text: string): unknown {
  try {
    return read(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Whether all that `wanted` says is in `found`; what else was set there by hand does no harm. */
function holds(found: unknown, wanted: unknown): boolean {
  const fields = asObject(wanted);
  if (fields === undefined) return isDeepStrictEqual(found, wanted);
  const its = asObject(found);
  return its !== undefined && Object.entries(fields).every(([key, value]) => holds(its[key], value));
}

function other(): Failure {
  return new Failure("conflict", `another entry ${NAME} is there; --force replaces it`);
}
