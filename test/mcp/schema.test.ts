import assert from "node:assert/strict";
import { test } from "node:test";
import { checkArguments, type InputSchema } from "../../src/mcp/schema.ts";

const SCHEMA: InputSchema = {
  type: "object",
  properties: {
    name: { type: "string", description: "", minLength: 1, maxLength: 3 },
    way: { type: "string", description: "", enum: ["up", "down"] },
    count: { type: "integer", description: "", minimum: 1, maximum: 9 },
    since: { type: "integer", description: "", minimum: 0 },
    all: { type: "boolean", description: "" },
  },
  required: ["name"],
  additionalProperties: false,
};

test("arguments that fit are passed, absent ones too", () => {
  const given = { name: "abc", way: "up", count: 9, since: 0, all: false };
  assert.deepEqual(checkArguments(SCHEMA, given), given);
  assert.deepEqual(checkArguments({ ...SCHEMA, required: [] }, undefined), {});
  // As JSON Schema counts them, these are three characters.
  assert.deepEqual(checkArguments(SCHEMA, { name: "🦓🦓🦓" }), { name: "🦓🦓🦓" });
});

test("what does not fit is told by its name", () => {
  const wrong: readonly (readonly [given: unknown, message: string])[] = [
    [7, "arguments must be an object"],
    [[], "arguments must be an object"],
    [{}, 'the argument "name" is missing'],
    [{ name: "" }, "name must be a text that is not empty"],
    [{ name: "abcd" }, "name must be at most 3 characters long"],
    [{ name: 7 }, "name must be a text"],
    [{ name: null }, "name must be a text"],
    [{ name: "a", way: "left" }, "way must be one of up, down"],
    [{ name: "a", count: 0 }, "count must be a whole number from 1 to 9"],
    [{ name: "a", count: 1.5 }, "count must be a whole number from 1 to 9"],
    [{ name: "a", count: "1" }, "count must be a whole number from 1 to 9"],
    [{ name: "a", since: -1 }, "since must be a whole number of at least 0"],
    [{ name: "a", all: "yes" }, "all must be true or false"],
    [{ nam: "a" }, 'unknown argument "nam"; this tool takes name, way, count, since, all'],
    [
      JSON.parse('{"name":"a","__proto__":1}'),
      'unknown argument "__proto__"; this tool takes name, way, count, since, all',
    ],
    [{ name: "a", "x\u001b[31m\n": 1 }, 'unknown argument "x"; this tool takes name, way, count, since, all'],
  ];
  for (const [given, message] of wrong)
    assert.throws(() => checkArguments(SCHEMA, given), { kind: "bad-request", message });
});
