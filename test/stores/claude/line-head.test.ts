import assert from "node:assert/strict";
import { test } from "node:test";
import { readHead } from "../../../src/stores/claude/line-head.ts";

const kindOf = (line: string): string => readHead(Buffer.from(line)).kind;

const TABLE: readonly (readonly [string, string])[] = [
  ['{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"hi"}}', "user"],
  ['{"parentUuid":null,"message":{"id":"m","type":"message","content":[]},"type":"assistant"}', "assistant"],
  ['{"parentUuid":null,"message":{"content":[{"type":"text","text":"a"}]},"type":"assistant"}', "assistant"],
  ['{"type":"system","subtype":"compact_boundary","content":"x"}', "system"],
  ['{"type":"system","subtype":"turn_duration","durationMs":1}', "skip"],
  ['{"type":"system","content":"no subtype"}', "system"],
  ['{"parentUuid":"u","attachment":{"type":"queued_command","prompt":"x"},"type":"attachment"}', "attachment"],
  ['{"parentUuid":"u","type":"attachment","attachment":{"type":"queued_command","prompt":"x"}}', "attachment"],
  ['{"parentUuid":"u","attachment":{"type":"prompt_snapshot","systemPrompt":["x"]},"type":"attachment"}', "skip"],
  ['{"type":"file-history-snapshot","snapshot":{}}', "skip"],
  ['{"type":"progress","data":{"message":{"type":"user","message":{"content":"nested"}}}}', "skip"],
  ['{"type":"mode","mode":"normal"}{"parentUuid":null,"type":"user"}', "unsure"],
  ['{"type":"mode","mo{"parentUuid":null,"isSidechain":false,"type":"user"}', "unsure"],
  ['{"type":"mode","mo\0\0\0{"type":"user"}', "unsure"],
  ['{"type": "user", "message": {}}', "unsure"],
  ["not json", "skip"],
];

for (const [line, kind] of TABLE) test(`a line is told by its bytes: ${line}`, () => assert.equal(kindOf(line), kind));

test("a type is found wherever it stands in the line", () => {
  for (let length = 0; length < 1200; length++) {
    const cwd = "d".repeat(length);
    assert.equal(
      kindOf(`{"parentUuid":null,"cwd":"${cwd}","type":"user","message":{"content":"x"}}`),
      "user",
      `${length}`,
    );
    assert.equal(kindOf(`{"cwd":"${cwd}","type":"system","subtype":"local_command","content":"x"}`), "system");
    assert.equal(kindOf(`{"cwd":"${cwd}","attachment":{"type":"queued_command"},"type":"attachment"}`), "attachment");
    assert.equal(kindOf(`{"cwd":"${cwd}","message":{"id":"m","type":"message"},"type":"assistant"}`), "assistant");
  }
});

test("a subagent's line is told by its envelope, not by what is in its message", () => {
  const sidechain = (line: string): boolean => readHead(Buffer.from(line)).sidechain;
  assert.equal(sidechain('{"parentUuid":null,"isSidechain":true,"type":"user"}'), true);
  assert.equal(sidechain('{"parentUuid":null,"isSidechain":false,"type":"user"}'), false);
  assert.equal(sidechain('{"parentUuid":null,"message":{"input":{"isSidechain":true}},"type":"user"}'), false);
});
