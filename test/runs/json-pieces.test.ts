import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Breather } from "../../src/platform/breather.ts";
import { parseInPieces } from "../../src/runs/json-pieces.ts";

/** Longer than what is parsed in one go. */
const LONG = " ".repeat(70_000);

const inPieces = (text: string): Promise<unknown> => parseInPieces(Buffer.from(text), new Breather());

test("what is parsed in pieces is what JSON.parse gives", async () => {
  const job = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue());
  const document = fc.oneof(
    fc.array(job),
    fc.record({ version: fc.integer(), jobs: fc.array(job), more: fc.jsonValue() }, { requiredKeys: [] }),
    fc.jsonValue(),
  );
  await fc.assert(
    fc.asyncProperty(document, async (value) => {
      const text = JSON.stringify(value) + LONG;
      assert.deepEqual(await inPieces(text), JSON.parse(text));
    }),
    { numRuns: 300 },
  );
});

test("of a key that stands twice the last counts, as in JSON.parse", async () => {
  const text = `{"jobs":[{"a":1}],"jobs":[{"b":"\\"}]"},7,{"piece":0}]}${LONG}`;
  assert.deepEqual(await inPieces(text), { jobs: [{ b: '"}]' }, 7, { piece: 0 }] });
});

test("what is no JSON is refused, whatever its pieces are", async () => {
  const whole = `{"version":2,"jobs":[{"a":[1,{"b":"}"}]},{"c":2}]}`;
  for (let length = 0; length < whole.length; length++) {
    await assert.rejects(inPieces(whole.slice(0, length) + LONG), SyntaxError, whole.slice(0, length));
  }
  for (const text of [`[{"a":1]}`, `[{"a":1}{"b":2}]`, `{"jobs":[{"a":1}]]`, `{"jobs":[{a}]}`, `{"a":"`]) {
    await assert.rejects(inPieces(text + LONG), SyntaxError, text);
  }
});
