import { Failure } from "../platform/failure.ts";
import { asObject } from "../platform/read.ts";
import type { JsonSchema } from "../server/route.ts";

/** A key of a JSON body. Its reader makes the value, or throws a `bad-request` that names the key. */
export interface BodyField<T = unknown> {
  readonly schema: JsonSchema;
  /** Must stand. */
  readonly required?: true;
  read(value: unknown, key: string): T;
}

/** The keys of a body: what is not named here is refused. */
export type BodyFields = { readonly [key: string]: BodyField };

/** What the readers made of a body: an absent key is undefined. */
export type BodyOf<F extends BodyFields> = {
  readonly [K in keyof F]: F[K] extends { readonly required: true }
    ? ReturnType<F[K]["read"]>
    : ReturnType<F[K]["read"]> | undefined;
};

/** What the readers of `fields` make of a POST's JSON; an empty body is `{}`. @throws Failure bad-request that names the key */
export function readBody<F extends BodyFields>(fields: F, body: unknown): BodyOf<F> {
  const object = asObject(body === undefined ? {} : body);
  if (object === undefined) throw new Failure("bad-request", "the body must be a JSON object");
  for (const key of Object.keys(object)) if (!Object.hasOwn(fields, key)) throw unknownKey(key, fields);
  const values = Object.entries(fields).flatMap(([key, field]) => {
    if (Object.hasOwn(object, key)) return [[key, field.read(object[key], key)] as const];
    if (field.required) throw new Failure("bad-request", `the key "${key}" is missing`);
    return [];
  });
  return Object.fromEntries(values) as BodyOf<F>;
}

/** The schema of a body of `fields`. */
export function bodySchema(fields: BodyFields, more: JsonSchema = {}): JsonSchema {
  const entries = Object.entries(fields);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([key, { schema }]) => [key, schema])),
    required: entries.flatMap(([key, { required }]) => (required ? [key] : [])),
    additionalProperties: false,
    ...more,
  };
}

/** `field`, which must stand. */
export function required<T>(field: BodyField<T>): BodyField<T> & { readonly required: true } {
  return { ...field, required: true };
}

/** A text of 1 to `most` UTF-16 units on one line, without control characters. */
export function line(description: string, most: number): BodyField<string> {
  return {
    schema: { type: "string", minLength: 1, maxLength: most, description },
    read(value, key) {
      const text = wellFormed(value, key);
      if (text === "" || text.length > most || /\p{Cc}/u.test(text)) {
        throw new Failure("bad-request", `${key} must be 1 to ${most} characters without control characters`);
      }
      return text;
    },
  };
}

/** Any text, which may be empty. */
export function anyText(description: string): BodyField<string> {
  return { schema: { type: "string", description }, read: wellFormed };
}

/** One of `words`. */
export function word<W extends string>(description: string, words: readonly W[]): BodyField<W> {
  return {
    schema: { type: "string", enum: words, description },
    read(value, key) {
      const found = words.find((each) => each === value);
      if (found === undefined) throw new Failure("bad-request", `${key} must be one of ${words.join(", ")}`);
      return found;
    },
  };
}

/** True or false. */
export function yesOrNo(description: string): BodyField<boolean> {
  return {
    schema: { type: "boolean", description },
    read(value, key) {
      if (typeof value !== "boolean") throw new Failure("bad-request", `${key} must be true or false`);
      return value;
    },
  };
}

/** A whole number from `least` to `most`. */
export function whole(description: string, least: number, most: number): BodyField<number> {
  return {
    schema: { type: "integer", minimum: least, maximum: most, description },
    read(value, key) {
      if (typeof value !== "number" || !Number.isInteger(value) || value < least || value > most) {
        throw new Failure("bad-request", `${key} must be a whole number from ${least} to ${most}`);
      }
      return value;
    },
  };
}

/** `value` when it is a text that can be written as UTF-8 and read again. @throws Failure bad-request */
export function wellFormed(value: unknown, key: string): string {
  if (typeof value !== "string") throw new Failure("bad-request", `${key} must be a text`);
  if (/\p{Surrogate}/u.test(value)) throw new Failure("bad-request", `${key} holds half a character`);
  return value;
}

function unknownKey(key: string, fields: BodyFields): Failure {
  const known = Object.keys(fields);
  const takes = known.length === 0 ? "this route takes none" : `this route takes: ${known.join(", ")}`;
  const asked = /^[\w.-]{1,40}$/.test(key) ? `unknown key "${key}"` : "unknown key";
  return new Failure("bad-request", `${asked}; ${takes}`);
}
