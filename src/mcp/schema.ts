import { Failure } from "../platform/failure.ts";
import { asObject, asString, type JsonObject } from "../platform/read.ts";
import { clip } from "../transcript/clip.ts";
import { printableLine } from "../transcript/printable.ts";

/** The part of JSON Schema that arguments of tools are described with. */
export interface ArgumentSchema {
  readonly type: "string" | "integer" | "boolean";
  readonly description: string;
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** The arguments of a tool. */
export interface InputSchema {
  readonly type: "object";
  readonly properties: { readonly [name: string]: ArgumentSchema };
  readonly required?: readonly string[];
  readonly additionalProperties: false;
}

/** The type of the values that a schema passes. */
type ValueOf<S extends ArgumentSchema> = S extends { readonly enum: readonly (infer W)[] }
  ? W
  : { readonly string: string; readonly integer: number; readonly boolean: boolean }[S["type"]];

/** The arguments that a schema passes. */
export type ArgumentsOf<P extends InputSchema["properties"], R extends keyof P> = {
  readonly [K in keyof P]: K extends R ? ValueOf<P[K]> : ValueOf<P[K]> | undefined;
};

/** `given` when it is what `schema` describes. @throws Failure bad-request: names the argument that is not, and says what it must be */
export function checkArguments({ properties, required = [] }: InputSchema, given: unknown): JsonObject {
  const values = given === undefined ? {} : asObject(given);
  if (values === undefined) throw new Failure("bad-request", "arguments must be an object");
  for (const [name, value] of Object.entries(values)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (schema === undefined) throw unknownArgument(name, Object.keys(properties));
    const must = problemOf(schema, value);
    if (must !== undefined) throw new Failure("bad-request", `${name} must be ${must}`);
  }
  const missing = required.find((name) => !Object.hasOwn(values, name));
  if (missing !== undefined) throw new Failure("bad-request", `the argument "${missing}" is missing`);
  return values;
}

/** What `value` must be and is not. */
function problemOf(schema: ArgumentSchema, value: unknown): string | undefined {
  switch (schema.type) {
    case "boolean":
      return typeof value === "boolean" ? undefined : "true or false";
    case "integer":
      return isWhole(schema, value) ? undefined : wholeWords(schema);
    case "string":
      return textProblem(schema, value);
  }
}

function isWhole({ minimum = -Infinity, maximum = Infinity }: ArgumentSchema, value: unknown): boolean {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= minimum && value <= maximum;
}

function wholeWords({ minimum = 0, maximum }: ArgumentSchema): string {
  return `a whole number ${maximum === undefined ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`}`;
}

function textProblem({ enum: words, minLength = 0, maxLength = Infinity }: ArgumentSchema, value: unknown) {
  if (words !== undefined) return words.some((word) => word === value) ? undefined : `one of ${words.join(", ")}`;
  const text = asString(value);
  if (text === undefined) return "a text";
  // JSON Schema counts characters, of which a text has no more than units.
  if (text.length < minLength) return "a text that is not empty";
  if (text.length > maxLength && [...text].length > maxLength) return `at most ${maxLength} characters long`;
  return undefined;
}

function unknownArgument(name: string, known: readonly string[]): Failure {
  const takes = known.length === 0 ? "this tool takes none" : `this tool takes ${known.join(", ")}`;
  return new Failure("bad-request", `unknown argument "${clip(printableLine(name), 40).text}"; ${takes}`);
}
