import assert from "node:assert/strict";
import { appendFileSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Random } from "../../../scripts/history/random.ts";
import { BytePool } from "../../../src/jsonl/buffers.ts";
import { bytesSource } from "../../../src/jsonl/source.ts";
import { RawEventReader } from "../../../src/stores/recorded/raw-events.ts";
import { placeBehind } from "../../../src/stores/recorded/seq-search.ts";
import type { RawEventPage } from "../../../src/stores/store.ts";
import type { Cursor } from "../../../src/transcript/cursor.ts";
import { Home } from "./home.ts";

/** A home with one recording of which the records are asked. */
class Records extends Home {
  readonly reader = new RawEventReader();

  page(from: number | Cursor = 0, limit = 500): Promise<RawEventPage> {
    const root = join(this.path, ".agentproto", "sessions");
    return this.reader.page({ root, file: this.file("ses_1") }, from, limit);
  }

  /** The numbers of all records, read in pages by passing `nextSeq` on. */
  async walk(limit: number, from = 0): Promise<number[]> {
    const numbers: number[] = [];
    for (let since = from, pages = 0; ; pages++) {
      assert.ok(pages < 10_000, "it loops");
      const { events, nextSeq, complete } = await this.page(since, limit);
      numbers.push(...events.map(({ seq }) => seq));
      if (complete) return numbers;
      since = nextSeq;
    }
  }
}

const plain = (seq: number, text = ""): string =>
  `{"seq":${seq},"ts":"t","kind":"notice","sessionId":"s","text":"${text}"}\n`;
const plains = (from: number, to: number, text = ""): string =>
  Array.from({ length: to - from + 1 }, (_, index) => plain(from + index, text)).join("");
const seqs = ({ events }: RawEventPage): number[] => events.map(({ seq }) => seq);

test("records come as they stand in the file, what is no record is left out", async (t) => {
  const home = new Records(t);
  const kept = [
    '{"seq":1,"big":123456789012345678901234567890,"e":1e400,"a":1.0}',
    '{ "kind" : "x" , "seq" : 2 }',
    '{"seq":3,"text":"é😀\\ud83d\u2028","seq2":{"seq":9}}',
    '{"kind":"nested","value":{"seq":77},"seq":4}',
  ];
  const others = [
    '{"seq":5,"torn":',
    '{"seq":"6"}',
    "[7]",
    '{"kind":"none"}',
    "",
    "null",
    '{"command":"ls","exitCode":0}',
  ];
  home.write("ses_1", `\ufeff${kept[0]}\r\n${others.join("\n")}\n${kept.slice(1).join("\r\n")}\n`);
  const { events, nextSeq, complete } = await home.page();
  assert.deepEqual(
    events.map(({ line }) => line),
    kept,
  );
  assert.deepEqual([nextSeq, complete], [4, true]);
});

test("a half-written last line waits for its newline", async (t) => {
  const home = new Records(t);
  const last = plain(3);
  home.write("ses_1", plains(1, 2) + last.trimEnd());
  assert.deepEqual(seqs(await home.page(1)), [2]);
  const { next } = await home.page(1);
  assert.deepEqual(seqs(await home.page(next)), []);
  home.append("ses_1", "\n");
  assert.deepEqual(seqs(await home.page(next)), [3]);
  assert.deepEqual(seqs(await home.page(2)), [3]);
});

test("passing nextSeq on gives each record once, whatever the limit", async (t) => {
  const home = new Records(t);
  home.write("ses_1", plains(1, 300));
  const all = Array.from({ length: 300 }, (_, index) => index + 1);
  for (const limit of [1, 7, 299, 300, 301, 2000]) assert.deepEqual(await home.walk(limit), all, `limit ${limit}`);
  assert.deepEqual(seqs(await home.page(298)), [299, 300]);
  const end = await home.page(300);
  assert.deepEqual([end.events.length, end.nextSeq, end.complete], [0, 300, true]);
  const beyond = await home.page(9999);
  assert.deepEqual([beyond.events.length, beyond.nextSeq, beyond.complete], [0, 9999, true]);
});

test("an empty recording is an empty page", async (t) => {
  const home = new Records(t);
  home.write("ses_1", "");
  const { events, nextSeq, complete } = await home.page();
  assert.deepEqual([events, nextSeq, complete], [[], 0, true]);
});

test("a record that is longer than a page of a chat, or than a whole answer, comes all the same", async (t) => {
  const home = new Records(t);
  const sizes = [10, 600_000, 5_000_000, 10, 1_500_000, 1_500_000, 1_500_000, 16_000_000, 10];
  home.write("ses_1", sizes.map((size, index) => plain(index + 1, "x".repeat(size))).join(""));
  const pages: number[][] = [];
  for (let since = 0, complete = false; !complete; ) {
    const page = await home.page(since, 2000);
    pages.push(seqs(page));
    since = page.nextSeq;
    complete = page.complete;
  }
  assert.deepEqual(pages, [[1, 2], [3], [4, 5, 6], [7], [8], [9]]);
});

test("a line that is too long for any record is passed over", async (t) => {
  const home = new Records(t);
  home.write("ses_1", `${plain(1)}${plain(2, "x".repeat(40_000_000))}${plain(3)}`);
  assert.deepEqual(seqs(await home.page()), [1, 3]);
});

test("the place behind a number is found in a long file by a few small reads", async () => {
  const bytes = Buffer.from(plains(1, 200_000, "x".repeat(100)));
  let read = 0;
  const whole = bytesSource(bytes);
  const source = {
    size: whole.size,
    read(target: Uint8Array, position: number): number {
      const count = whole.read(target, position);
      read += count;
      return count;
    },
  };
  for (const since of [1, 1000, 77_777, 199_000, 199_999, 200_000]) {
    read = 0;
    const { offset } = await placeBehind(source, since, new BytePool());
    const expected = since === 200_000 ? bytes.length : bytes.indexOf(`{"seq":${since + 1},`);
    assert.equal(offset, expected, `since ${since}`);
    assert.ok(read < 4_000_000, `since ${since} read ${read}`);
    if (since > 199_500) assert.ok(read < 150_000, `since ${since} read ${read}`);
  }
});

test("the place behind a number is right in files with gaps, long lines and broken ones", async (t) => {
  const seed = Date.now() % 2 ** 31;
  t.diagnostic(`seed ${seed}`);
  const random = new Random(seed);
  for (let round = 0; round < 60; round++) {
    let seq = 0;
    const lines: { seq: number | undefined; text: string }[] = [];
    for (let i = 0; i < random.between(0, 2000); i++) {
      seq += random.pick([1, 1, 1, 1, 5]);
      const size = random.between(0, 200) === 0 ? random.between(0, 400_000) : random.between(0, 300);
      if (random.between(0, 20) === 0)
        lines.push({ seq: undefined, text: random.pick(["", "torn {", '{"a":1}', "x".repeat(99)]) });
      lines.push({ seq, text: plain(seq, "x".repeat(size)).trimEnd() });
    }
    const source = bytesSource(Buffer.from(lines.map(({ text }) => `${text}\n`).join("")));
    for (let i = 0; i < 20; i++) {
      const since = random.between(1, seq + 3);
      const { offset } = await placeBehind(source, since, new BytePool());
      let start = 0;
      const rest: number[] = [];
      for (const line of lines) {
        if (start >= offset && line.seq !== undefined) rest.push(line.seq);
        start += Buffer.byteLength(line.text) + 1;
      }
      const expected = lines.flatMap((line) => (line.seq !== undefined && line.seq > since ? [line.seq] : []));
      assert.deepEqual(rest, expected, `seed ${seed} round ${round} since ${since}`);
    }
  }
});

test("where the numbers fall back, reading on is in the order of the file and ends", async (t) => {
  const home = new Records(t);
  home.write("ses_1", plains(1, 40) + plains(1, 20) + plains(15, 60));
  const all = [...Array(40).keys(), ...Array(20).keys(), ...Array.from({ length: 46 }, (_, i) => i + 14)].map(
    (n) => n + 1,
  );
  for (const limit of [13, 200]) {
    const fresh = new Records(t);
    fresh.write("ses_1", readFileSync(home.file("ses_1"), "utf8"));
    assert.deepEqual(await fresh.walk(limit), all, `limit ${limit}`);
  }
  // Another reader that stands in between, and a server that has forgotten: it ends all the same.
  for (const since of [1, 14, 20, 40, 41, 60, 99]) await home.walk(7, since);
});

test("who has come to the end gets what follows also when the numbers begin anew", async (t) => {
  const home = new Records(t);
  home.write("ses_1", plains(1, 40));
  assert.equal((await home.page()).nextSeq, 40);
  home.append("ses_1", plains(1, 3));
  const { events, nextSeq } = await home.page(40);
  assert.deepEqual(
    events.map(({ seq }) => seq),
    [1, 2, 3],
  );
  assert.deepEqual(seqs(await home.page(nextSeq)), []);
  home.append("ses_1", plains(4, 5));
  assert.deepEqual(seqs(await home.page(nextSeq)), [4, 5]);
});

test("a file that was replaced or cut short is read from its start by who stood in the one before", async (t) => {
  const home = new Records(t);
  home.write("ses_1", plains(1, 40));
  const { next } = await home.page();
  renameSync(home.file("ses_1"), `${home.file("ses_1")}.old`);
  writeFileSync(home.file("ses_1"), plains(1, 3));
  const replaced = await home.page(next);
  assert.deepEqual([seqs(replaced), replaced.reset], [[1, 2, 3], true]);
  assert.deepEqual(seqs(await home.page(40)), [1, 2, 3]);
  assert.deepEqual(seqs(await home.page(3)), []);
  const after = await home.page(replaced.next);
  assert.deepEqual([seqs(after), after.reset], [[], undefined]);
  truncateSync(home.file("ses_1"), plains(1, 2).length);
  const cut = await home.page(replaced.next);
  assert.deepEqual([seqs(cut), cut.reset], [[1, 2], true]);
  // Rewritten in place, and longer.
  writeFileSync(home.file("ses_1"), plains(1, 50, "other"));
  const other = await home.page(cut.next);
  assert.deepEqual([other.events.length, other.reset], [50, true]);
  rmSync(home.file("ses_1"));
  await assert.rejects(home.page(), { kind: "not-found" });
});

test("a place that can't be one is refused", async (t) => {
  const home = new Records(t);
  home.write("ses_1", plains(1, 4));
  for (const from of ["j:1:1", "j:0:0:0123abcd", "o:1:prt_1", "h:1"]) {
    await assert.rejects(home.page(from as Cursor), { kind: "bad-request" }, from);
  }
});

test("fifty that ask for the same are answered by one reading", async (t) => {
  const home = new Records(t);
  home.write("ses_1", plains(1, 1000));
  const answers = await Promise.all(Array.from({ length: 50 }, () => home.page(0, 2000)));
  assert.equal(home.reader.pagesRead, 1);
  const [first] = answers;
  assert.ok(first !== undefined && answers.every(({ events }) => events === first.events));
  // One that comes later gets what is kept as long as nothing was written, and else the file as it is.
  assert.equal((await home.page(0, 2000)).events, first.events);
  assert.equal(home.reader.pagesRead, 1);
  appendFileSync(home.file("ses_1"), plain(1001));
  assert.equal((await home.page(0, 2000)).events.length, 1001);
  const { next } = first;
  const more = await Promise.all(Array.from({ length: 50 }, () => home.page(next, 2000)));
  assert.equal(home.reader.pagesRead, 3);
  assert.ok(more.every((page) => seqs(page).join() === "1001"));
  // One who lags behind may have it in two pieces.
  appendFileSync(home.file("ses_1"), plain(1002));
  const late = await home.page(next, 2000);
  assert.deepEqual([seqs(late), late.complete], [[1001], false]);
  assert.deepEqual(seqs(await home.page(late.next, 2000)), [1002]);
});

test("who asks because something was written gets it, also while others are still reading", async (t) => {
  const home = new Records(t);
  home.write("ses_1", plains(1, 30_000));
  const { next } = await home.page(1, 1);
  const before = home.page(next, 50_000);
  home.append("ses_1", plain(30_001));
  const after = home.page(next, 50_000);
  assert.equal((await before).events.length, 29_998);
  assert.equal((await after).events.length, 29_999);
});
