import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createOutput, type Output, type OutputChunk } from "../../src/agents/output.ts";
import { WholeCharacters } from "../../src/agents/whole-characters.ts";

const KIB_64 = 64 * 1024;

function written(...parts: (Uint8Array | string)[]): Output {
  const output = createOutput();
  for (const part of parts) output.write(part);
  return output;
}

test("what was printed is read from the place asked for, in bytes", () => {
  const output = written("añb\n", Buffer.from("日本"));
  assert.deepEqual(output.read(), { text: "añb\n日本", from: 0, next: 11 });
  assert.deepEqual(output.read(5), { text: "日本", from: 5, next: 11 });
  assert.deepEqual(output.read(11), { text: "", from: 11, next: 11 });
  assert.deepEqual(output.read(99), { text: "", from: 11, next: 11 });
  assert.deepEqual(createOutput().read(), { text: "", from: 0, next: 0 });
});

test("the last 500 lines are kept, whether or not the last one has ended", () => {
  const lines = Array.from({ length: 600 }, (_, index) => `line ${index}\n`);
  const kept = written(...lines).read();
  assert.equal(kept.text, lines.slice(100).join(""));
  assert.deepEqual([kept.from, kept.cut], [lines.slice(0, 100).join("").length, true]);
  assert.equal(written(...lines, "open").read().text, `${lines.slice(101).join("")}open`);
  const all = written(...lines.slice(0, 500)).read();
  assert.deepEqual([all.from, all.cut], [0, undefined]);
  assert.equal(written("\n".repeat(600)).read().text, "\n".repeat(500));
});

test("no more than 64 KiB is kept, of a longer line its end, however it was written", () => {
  const text = "0123456789".repeat(30_000);
  const sizes = [1, 7, 1000, KIB_64 - 1, KIB_64, KIB_64 + 1, 100_000, 300_000];
  for (const size of sizes) {
    const output = createOutput();
    for (let at = 0; at < text.length; at += size) output.write(text.slice(at, at + size));
    const expected = { text: text.slice(-KIB_64), from: text.length - KIB_64, next: text.length, cut: true };
    assert.deepEqual(output.read(), expected, `in pieces of ${size}`);
    output.end();
    assert.deepEqual(output.read(), expected, `in pieces of ${size}, ended`);
    assert.deepEqual(output.read(text.length - 3), { text: "789", from: text.length - 3, next: text.length });
  }
});

test("what is read always says where it stands, whatever was written: a model of 300 random histories", () => {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
  let state = seed;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
  const pieces = ["a", "\n", "é", "日本\n", "😀", "x".repeat(300), "line\n".repeat(40), "z".repeat(9_000)];
  for (let history = 0; history < 300; history++) {
    const output = createOutput();
    let all = Buffer.alloc(0);
    for (let step = random(60); step >= 0; step--) {
      const piece = Buffer.from(pieces[random(pieces.length)] ?? "");
      // Bytes come cut anywhere, also inside a character.
      const cut = random(piece.length + 1);
      output.write(piece.subarray(0, cut));
      output.write(piece.subarray(cut));
      all = Buffer.concat([all, piece]);
    }
    const lines = all.toString("latin1").split(/(?<=\n)/);
    const oldest = Math.max(all.length - KIB_64, all.length - lines.slice(-500).join("").length, 0);
    const since = random(all.length + 1);
    const { text, from, next, cut } = output.read(since);
    const told = `seed ${seed}, history ${history}`;
    assert.equal(next, all.length, told);
    assert.ok(from >= Math.max(since, oldest) && from <= Math.max(since, oldest) + 3, told);
    assert.equal(text, all.toString("utf8", from), told);
    assert.ok(!text.includes("\ufffd"), told);
    assert.equal(cut === true, since < oldest, told);
  }
});

test("a character is never cut in two: its beginning waits for its end", () => {
  const smile = Buffer.from("😀");
  const output = written("a", smile.subarray(0, 3));
  assert.deepEqual(output.read(), { text: "a", from: 0, next: 1 });
  output.write(smile.subarray(3));
  assert.deepEqual(output.read(1), { text: "😀", from: 1, next: 5 });
  for (const inside of [2, 3, 4]) assert.deepEqual(output.read(inside), { text: "", from: 5, next: 5 });
  output.write(smile.subarray(0, 2));
  output.end();
  assert.deepEqual(output.read(5), { text: "\ufffd", from: 5, next: 7 }, "nothing more comes");
});

test("a text that is cut inside a character is put together", () => {
  const output = written("a\ud83d", "\ude00b", "\ud83d");
  assert.equal(output.read().text, "a😀b");
  output.end();
  assert.equal(output.read().text, "a😀b\ufffd");
});

test("bytes that are no UTF-8 are shown as such and move no position", () => {
  const output = written(Buffer.from([0x61, 0xff, 0xe0, 0x80, 0xc0, 0x62, 0xed, 0xa0, 0x80]));
  const { text, from, next } = output.read();
  assert.match(text, /^a\ufffd+b\ufffd+$/);
  assert.deepEqual([from, next], [0, 9]);
  assert.deepEqual(output.read(5).text.slice(0, 1), "b");
  output.write(Buffer.from([0x80]));
  assert.deepEqual(output.read(9), { text: "\ufffd", from: 9, next: 10 });
});

test("what is kept does not begin inside an escape sequence", () => {
  for (const sequence of ["\u001b[38;5;1m", "\u001b]0;a title\u0007", "\u001b]8;;x\u001b\\", "\u001b(B"]) {
    for (let kept = 0; kept <= sequence.length; kept++) {
      const { text, cut } = written(`begin ${sequence}`, "x".repeat(KIB_64 - kept)).read();
      const shown = kept === sequence.length ? sequence : "";
      assert.deepEqual(
        [text.replace(/x+$/, ""), cut],
        [shown, true],
        `${JSON.stringify(sequence)}, ${kept} bytes of it`,
      );
    }
  }
});

test("who follows gets all of it once, in order, until it ends", async () => {
  const output = written("one ");
  const got: OutputChunk[] = [];
  const following = (async () => {
    for await (const chunk of output.follow(0, new AbortController().signal)) got.push(chunk);
  })();
  for (let index = 0; index < 1_000; index++) {
    output.write(`${index}\n`);
    if (index % 100 === 0) await turn();
  }
  output.end();
  await following;
  assert.equal(
    got.map(({ text }) => text).join(""),
    `one ${Array.from({ length: 1_000 }, (_, index) => `${index}\n`).join("")}`,
  );
  assert.ok(got.length < 50, `many small writes are few chunks: ${got.length}`);
  assert.ok(got.every(({ from, cut }, index) => cut === undefined && from === (got[index - 1]?.next ?? 0)));
});

test("a slow reader misses what is no longer kept, and is told so", async () => {
  const output = written("first\n");
  const reader = output.follow(0, new AbortController().signal)[Symbol.asyncIterator]();
  assert.equal((await reader.next()).value.text, "first\n");
  for (let index = 0; index < 10; index++) output.write(`${index}`.repeat(60_000));
  output.end();
  const { value } = await reader.next();
  assert.ok(value.cut === true && value.from > 6 && value.next === 600_006 && value.text.endsWith("9".repeat(60_000)));
  assert.equal((await reader.next()).done, true);
});

test("who follows is done at the signal, and at once when nothing more comes", async () => {
  const output = written("a");
  const leaving = new AbortController();
  const got: string[] = [];
  for await (const { text } of output.follow(0, leaving.signal)) {
    got.push(text);
    setImmediate(() => leaving.abort());
  }
  output.end();
  output.write("too late");
  for await (const { text } of output.follow(1, new AbortController().signal)) got.push(text);
  for await (const { text } of output.follow(0, new AbortController().signal)) got.push(text);
  assert.deepEqual([got, output.ended], [["a", "a"], true]);
});

test("bytes are handed on in whole characters, whatever they are cut into", () => {
  const bytes = Buffer.from("aé日😀\n");
  for (let first = 0; first <= bytes.length; first++) {
    for (let second = first; second <= bytes.length; second++) {
      const whole = new WholeCharacters();
      const parts = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
      const texts = [
        ...parts.map((part) => Buffer.from(whole.add(part)).toString()),
        Buffer.from(whole.rest()).toString(),
      ];
      assert.equal(texts.join(""), "aé日😀\n");
      assert.ok(!texts.some((text) => text.includes("\ufffd")));
    }
  }
});
