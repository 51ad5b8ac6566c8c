import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { Lines } from "../../../src/agents/acp/lines.ts";
import { messagesOf } from "../../../src/agents/acp/message.ts";

/** Numbers from 0 up to 1, the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function linesOf(chunks: readonly Uint8Array[], limit?: number): { lines: string[]; tooLong: number } {
  let tooLong = 0;
  const taker = new Lines(() => tooLong++, limit);
  const lines = chunks.flatMap((chunk) => [...taker.take(chunk)]);
  const rest = taker.rest();
  return { lines: rest === undefined ? lines : [...lines, rest], tooLong };
}

function cut(bytes: Uint8Array, random: () => number): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; ) {
    const length = Math.floor(random() * 12);
    chunks.push(bytes.subarray(from, from + length));
    from += length;
  }
  return chunks;
}

test("10,000 random chunkings give the same text", (t) => {
  const seed = randomInt(2 ** 31);
  t.diagnostic(`seed ${seed}`);
  const random = randomFrom(seed);
  const alphabet = ["a", "\n", "\r\n", "é", "日本", "😀", "\u2028", '"', "\\", "\u0000", "👩‍👩‍👧"];
  for (let round = 0; round < 10_000; round++) {
    const texts = Array.from({ length: 1 + Math.floor(random() * 4) }, () =>
      Array.from({ length: Math.floor(random() * 8) }, () => alphabet[Math.floor(random() * alphabet.length)]).join(""),
    );
    const written = texts.map((text) => `${JSON.stringify({ method: "m", params: { text } })}\n`).join("");
    const read = linesOf(cut(Buffer.from(written), random)).lines.flatMap(messagesOf);
    assert.deepEqual(
      read.map((message) => (message.kind === "notification" ? message.params.text : message)),
      texts,
      `seed ${seed}, round ${round}`,
    );
  }
});

test("a line over the limit is thrown away to its newline and told once", () => {
  const bytes = Buffer.from(`one\n${"x".repeat(100)}\ntwo\n${"y".repeat(50)}`);
  const whole = linesOf([bytes], 40);
  assert.deepEqual(whole, { lines: ["one", "two"], tooLong: 2 });
  const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
  assert.deepEqual(linesOf(single, 40), whole);
});

test("a line of just the limit is a line", () => {
  assert.deepEqual(linesOf([Buffer.from("12345\n123456\n")], 5), { lines: ["12345"], tooLong: 1 });
});

test("damaged UTF-8 is replaced, and the lines around it stay", () => {
  const bytes = Buffer.concat([Buffer.from("a\n"), Buffer.from([0xff, 0xc3]), Buffer.from("\nb\n")]);
  assert.deepEqual(linesOf([bytes]).lines, ["a", "\ufffd\ufffd", "b"]);
});

test("what is no message says so in words without content", () => {
  const said = (line: string): string[] =>
    messagesOf(line).map((message) => (message.kind === "nothing" ? message.why : message.kind));
  assert.deepEqual(said(""), []);
  assert.deepEqual(said(" \r"), []);
  assert.deepEqual(said("Welcome to agent 1.0, secret"), ["a line that is no JSON"]);
  assert.deepEqual(said("42"), ["JSON that is no message"]);
  assert.deepEqual(said("null"), ["JSON that is no message"]);
  assert.deepEqual(said('{"level":"info","msg":"secret"}'), ["JSON that is no message"]);
  assert.deepEqual(said("[]"), ["an empty batch"]);
  assert.deepEqual(said('{"method":7,"id":1,"result":1}'), ["answer"]);
  assert.deepEqual(said('{"method":"m","id":{}}'), ["a request whose id is no id"]);
});

test("messages are read behind a byte-order mark, before a carriage return, and in batches", () => {
  assert.deepEqual(messagesOf('\ufeff{"method":"a"}\r'), [{ kind: "notification", method: "a", params: {} }]);
  assert.deepEqual(
    messagesOf('[{"method":"a","id":null},{"id":1,"error":null,"result":2},{"id":"1","error":{},"result":2}]'),
    [
      { kind: "request", id: null, method: "a", params: {} },
      { kind: "answer", id: 1, result: 2 },
      { kind: "refusal", id: "1", error: {} },
    ],
  );
});
