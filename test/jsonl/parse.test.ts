import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseRecords } from "../../src/jsonl/parse.ts";

const A = '{"parentUuid":"a","type":"user","message":{"content":"eins"}}';
const B = '{"type":"assistant","message":{"content":[{"type":"text","text":"zwei"},{"type":"text","text":"}{"}]}}';
const a = { parentUuid: "a", type: "user", message: { content: "eins" } };
const b = {
  type: "assistant",
  message: {
    content: [
      { type: "text", text: "zwei" },
      { type: "text", text: "}{" },
    ],
  },
};
const NULS = "\0".repeat(300);

const CASES: readonly (readonly [string, string | Buffer, readonly unknown[]])[] = [
  ["one record", A, [a]],
  ["an empty line", "", []],
  ["white space", " \t ", []],
  ["nothing but NUL bytes", NULS, []],
  ["a record behind a byte-order mark", `\ufeff${A}`, [a]],
  ["a record before a carriage return", `${A}\r`, [a]],
  ["a record behind a run of NUL bytes", NULS + A, [a]],
  ["a record with NUL bytes inside", `${A.slice(0, 20)}\0\0${A.slice(20)}`, [a]],
  ["a record behind a byte-order mark and NUL bytes", `\ufeff${NULS}${A}`, [a]],
  [
    "U+2028 and U+2029 inside a text",
    '{"type":"x","text":"a\u2028b\u2029c"}',
    [{ type: "x", text: "a\u2028b\u2029c" }],
  ],
  [
    "invalid UTF-8 inside a text",
    Buffer.from([...Buffer.from('{"type":"'), 0xff, 0xc3, ...Buffer.from('"}')]),
    [{ type: "��" }],
  ],
  ["two records glued together", A + B, [a, b]],
  ["three records glued together", A + B + A, [a, b, a]],
  ["records with white space between", `${A} \t${B}`, [a, b]],
  ["records with NUL bytes between", A + NULS + B, [a, b]],
  ["records that begin with keys of no known writer", '{"x":1}{"y":{"z":2}}', [{ x: 1 }, { y: { z: 2 } }]],
  ["a record cut inside a text, then a whole one", A.slice(0, -6) + B, [b]],
  ["a record cut inside an escape, then a whole one", `{"type":"user","text":"say \\${A}`, [a]],
  ["a record cut behind a colon, then a whole one", `{"type":"user","message":${A}`, [a]],
  ["a record cut inside an array of blocks, then a whole one", B.slice(0, -20) + A, [a]],
  ["a record cut inside a number, then NUL bytes, then a whole one", `{"type":"x","n":12${NULS}${A}`, [a]],
  ["a whole record, then a cut one", A + B.slice(0, -5), [a]],
  ["a whole record, then one cut within its first key", `${A}{"parentUu`, [a]],
  ["cut, whole, cut, whole", A.slice(0, -4) + B + A.slice(0, 30) + B, [b, b]],
  ["a cut record alone: the blocks in it are not records", B.slice(0, -2), []],
  ["a cut record alone, within a text", A.slice(0, -8), []],
  ["the rest of a record whose head is lost", A.slice(10), []],
  ["the rest of a record, then a whole one", `zwei"}]}}${A}`, [a]],
  ["text that is not JSON", "Killed: 9", []],
  ["braces that are not JSON", "{{{}}}{", []],
  ["a number, which is JSON", "12", [12]],
  [
    "a record with an escaped start of another in a text",
    JSON.stringify({ type: "user", text: A + A.slice(5) }),
    [{ type: "user", text: A + A.slice(5) }],
  ],
  ["a key that would be a prototype", '{"__proto__":{"x":1}}', [JSON.parse('{"__proto__":{"x":1}}')]],
];

for (const [name, line, records] of CASES) {
  test(`a line that holds ${name}`, () => {
    assert.deepEqual(parseRecords(typeof line === "string" ? Buffer.from(line) : line), records);
  });
}

test("a record of many blocks, cut, does not hide the one glued to it", () => {
  const blocks = Array.from({ length: 2_000 }, (_, n) => ({ type: "text", text: `block ${n}` }));
  const long = JSON.stringify({ parentUuid: "a", message: { content: blocks } });
  assert.deepEqual(parseRecords(Buffer.from(long.slice(0, -9) + A)), [a]);
  assert.deepEqual(parseRecords(Buffer.from(long + A)), [JSON.parse(long), a]);
});

test("every cut of a record before a whole one gives the whole one, and nothing broken", () => {
  for (let cut = 1; cut < B.length; cut++) {
    const records = parseRecords(Buffer.from(B.slice(0, cut) + A));
    assert.deepEqual(records.at(-1), a, `cut at ${cut}`);
    // Cut just behind a block, that block looks like a record of its own; its type is none that is shown.
    for (const record of records.slice(0, -1))
      assert.equal((record as { type: unknown }).type, "text", `cut at ${cut}`);
  }
});

test("no bytes make it throw, and glued records are found whole", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (parts) => {
      const junk = Buffer.concat(parts.flatMap((part) => [Buffer.from(part), Buffer.from('{"type"')]));
      assert.ok(Array.isArray(parseRecords(junk)));
    }),
  );
  fc.assert(
    fc.property(
      fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), { minLength: 1, maxLength: 5 }),
      (records) => {
        const texts = records.map((record) => JSON.stringify(record));
        assert.deepEqual(
          parseRecords(Buffer.from(texts.join(""))),
          texts.map((text) => JSON.parse(text)),
        );
      },
    ),
  );
});
