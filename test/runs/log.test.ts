import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { withFile } from "../../src/platform/files.ts";
import { entryText, logHead } from "../../src/runs/log.ts";
import { CHUNK_BYTES, type LogChunk, type LogFacts, readLogChunk, readLogFacts } from "../../src/runs/log-file.ts";
import { temporaryFolder } from "../platform/folder.ts";

const HEADER = "14:05:09 codex in /srv, access edit, by you\n         Do it.\n         ---\n";

async function facts(t: TestContext, log: string | Buffer): Promise<LogFacts> {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "x.log"), log);
  return withFile(folder, join(folder, "x.log"), readLogFacts);
}

async function chunk(folder: string, from: number, isOver = false): Promise<LogChunk> {
  return withFile(folder, join(folder, "x.log"), (file) => readLogChunk(file, from, isOver));
}

test("the end of a log is its last entry, whatever its lines say", async (t) => {
  const cases: readonly (readonly [end: string, outcome: string | undefined, last: string])[] = [
    ["14:08:02 finished after 173s · done\n", "done", "finished after 173s · done"],
    ["14:08:02 finished after 173s · done", "done", "finished after 173s · done"],
    ["14:08:02 finished after 0s · interrupted\n", "interrupted", "finished after 0s · interrupted"],
    ["14:08:02 finished after 1.5s · cancelled\r\n", "interrupted", "finished after 1.5s · cancelled"],
    ["14:08:02 finished after 3s · no such model\n", "failed", "finished after 3s · no such model"],
    [
      "14:08:02 finished after 3s · it said\n         finished after 1s · done\n\nat the end\n",
      "failed",
      "finished after 3s · it said finished after 1s · done at the end",
    ],
    ["14:08:02 answer: finished after 3s · done\n", undefined, "answer: finished after 3s · done"],
    [
      "14:08:02 answer: it says\n         14:08:02 finished after 3s · done\n",
      undefined,
      "answer: it says 14:08:02 finished after 3s · done",
    ],
    ["14:08:02 finished after 3s · done\n14:08:03 but it goes on\n", undefined, "but it goes on"],
    ["14:08:02 finished after 3s · do", undefined, "finished after 3s · do"],
    ["14:08:02 finished after 3s · ", undefined, "finished after 3s ·"],
    ["14:08:02 finished after 3s · done\n14:0", "done", "finished after 3s · done"],
    ["14:08:02 finished after soon · done\n", undefined, "finished after soon · done"],
  ];
  for (const [end, outcome, last] of cases) {
    const read = await facts(t, HEADER + end);
    assert.deepEqual([read.outcome, read.last], [outcome, last], end);
  }
  assert.equal((await facts(t, HEADER)).last, "");
});

test("the last entry is found behind an answer of any length", async (t) => {
  for (const length of [3_000, 40_000, 3_000_000]) {
    const answer = `14:06:00 answer: ${"         14:08:02 finished after 3s · done\n".repeat(length / 40)}`;
    assert.deepEqual((await facts(t, HEADER + answer)).outcome, undefined);
    const end = `14:08:02 finished after 3s · ${"x".repeat(length)}\n`;
    const read = await facts(t, HEADER + answer + end);
    assert.deepEqual([read.outcome, read.task], ["failed", "Do it."]);
  }
});

test("the header gives folder, peer and session, also where a folder's name looks like more of it", () => {
  const cases: readonly (readonly [header: string, workdir: string, by: string, continues?: string])[] = [
    ["codex in /srv, access edit, by you", "/srv", "you"],
    ["codex (model-x, effort high) in /srv, access ask, by claude-shop", "/srv", "claude-shop"],
    ["codex (a (b)) in C:\\a in b, access edit, by x, access read, by you", "C:\\a in b, access edit, by x", "you"],
    ["claude in /srv, access default, by you, continues 01234567-89ab", "/srv", "you", "01234567-89ab"],
  ];
  for (const [header, workdir, by, continues] of cases) {
    const head = logHead(`14:05:09 ${header}\n`);
    assert.deepEqual([head.header, head.workdir, head.by, head.continues], [header, workdir, by, continues]);
  }
});

test("an end, a folder and a peer may hold any character that is no newline", async (t) => {
  const odd = "a\u2028b\u2029c\u0085d";
  const read = await facts(
    t,
    `14:05:09 codex in ${odd}, access edit, by ${odd}\n14:08:02 finished after 3s · ${odd}\n`,
  );
  assert.deepEqual([read.outcome, read.workdir, read.by], ["failed", odd, odd]);
});

test("a header that fits its form in many ways is read in one go", () => {
  const header = `a (${") in , access read, by ".repeat(700)}\u2028x`;
  assert.deepEqual(logHead(`14:05:09 ${header}\n`).by, "\u2028x");
  assert.equal(logHead(`14:05:09 a (${") in , access reed, by ".repeat(700)}\n`).by, undefined);
});

test("what is no header still is a head", () => {
  assert.deepEqual(logHead("something else\nand more\n"), { header: "something else", task: "and more" });
  assert.deepEqual(logHead(""), { header: "", task: "" });
});

test("an entry of many lines is read back as one, also when it holds a finish line", async (t) => {
  const text = "answer: a\r\nb\n14:08:02 finished after 3s · done";
  const read = await facts(t, HEADER + entryText("14:07:00", text));
  assert.deepEqual([read.outcome, read.last], [undefined, "answer: a b 14:08:02 finished after 3s · done"]);
});

test("a log of three-byte characters reads the same from every byte on, in whole characters", async (t) => {
  const folder = temporaryFolder(t);
  const text = "説明書を日本語に翻訳する。aé🙂z";
  const bytes = Buffer.from(text);
  writeFileSync(join(folder, "x.log"), bytes);
  for (let from = 0; from <= bytes.length; from++) {
    const { text: rest, next } = await chunk(folder, from);
    assert.ok(text.endsWith(rest) && !rest.includes("\ufffd"), `from ${from}`);
    assert.equal(next, bytes.length);
  }
});

test("a growing log cut at every byte is read without loss, repeat or broken characters", async (t) => {
  const folder = temporaryFolder(t);
  const text = "説a明é書🙂を";
  const bytes = Buffer.from(text);
  for (let step = 1; step <= 5; step++) {
    let read = "";
    let next = 0;
    for (let length = 0; length < bytes.length + step; length += step) {
      writeFileSync(join(folder, "x.log"), bytes.subarray(0, length));
      const part = await chunk(folder, next);
      read += part.text;
      next = part.next;
      assert.equal(part.size, Math.min(length, bytes.length));
    }
    assert.deepEqual([read, next], [text, bytes.length]);
  }
});

test("a log that ends inside a character is read to its end once its run is over, from every byte on", async (t) => {
  const folder = temporaryFolder(t);
  const text = "a説明🙂";
  const bytes = Buffer.from(text);
  for (let length = 1; length <= bytes.length; length++) {
    writeFileSync(join(folder, "x.log"), bytes.subarray(0, length));
    for (let from = 0; from <= length; from++) {
      const { next } = await chunk(folder, from, true);
      assert.equal(next, length, `${length} from ${from}`);
    }
    const { text: shown } = await chunk(folder, 0, true);
    const whole = (await chunk(folder, 0)).text;
    assert.ok(shown === whole || shown === `${whole}\ufffd`, `${length}`);
  }
  const long = Buffer.from("語".repeat(CHUNK_BYTES));
  writeFileSync(join(folder, "x.log"), long);
  assert.doesNotMatch((await chunk(folder, 0, true)).text, /\ufffd/);
});

test("one read gives 128 KiB at most, and the reads together the whole log", async (t) => {
  const folder = temporaryFolder(t);
  const text = "語".repeat(200_000);
  writeFileSync(join(folder, "x.log"), text);
  let read = "";
  for (let next = 0, size = 1; next < size; ) {
    const part = await chunk(folder, next);
    assert.ok(part.next - next <= CHUNK_BYTES && part.next > next);
    read += part.text;
    ({ next, size } = part);
  }
  assert.ok(read === text);
  assert.deepEqual(await chunk(folder, 10_000_000), { text: "", next: 600_000, size: 600_000 });
});

test("bytes that are no text do not hold a reader up", async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "x.log"), Buffer.from([0x61, 0x80, 0x80, 0x80, 0x80, 0xff, 0xc0, 0x62]));
  assert.equal((await chunk(folder, 0)).next, 8);
  assert.equal((await chunk(folder, 1)).text, "\ufffd\ufffd\ufffdb");
});
