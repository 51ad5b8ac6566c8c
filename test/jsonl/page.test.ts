import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { byteOffsetOf, FILE_START, parseJsonlCursor } from "../../src/jsonl/cursor.ts";
import { isLineStart, pageBuffer, readPage, readPageBefore } from "../../src/jsonl/page.ts";
import { type ByteSource, bytesSource, readRange } from "../../src/jsonl/source.ts";
import { hardBytes, linesIn, readBackward, readForward, texts } from "./lines.ts";

const source = (text: string): ByteSource => bytesSource(Buffer.from(text));

/** The page of `text` at a cursor, with 16 bytes a page. */
async function page(text: string, cursor: string) {
  const { lines, next, reset } = await readPage(source(text), parseJsonlCursor(cursor), pageBuffer(16));
  return { lines: texts(lines), next: `${next.offset}:${Number(next.discarding)}`, ...(reset && { reset }) };
}

async function pageBefore(text: string, end: number) {
  const { lines, prev } = await readPageBefore(source(text), byteOffsetOf(end), pageBuffer(16));
  return { lines: texts(lines), prev };
}

const FORWARD: readonly (readonly [string, string, string, unknown])[] = [
  ["an empty file has nothing", "", "0", { lines: [], next: "0:0" }],
  ["a half line waits for its newline", "ab", "0", { lines: [], next: "0:0" }],
  ["a line is told when its newline is there", "ab\n", "0", { lines: ['0-3 "ab"'], next: "3:0" }],
  [
    "a page holds as many lines as fit",
    "1234567\n89abcde\nxyz\n",
    "0",
    {
      lines: ['0-8 "1234567"', '8-16 "89abcde"'],
      next: "16:0",
    },
  ],
  ["a line that fills the page is told", "123456789012345\n", "0", { lines: ['0-16 "123456789012345"'], next: "16:0" }],
  ["a line longer than the page is passed over", "1234567890123456\nab\n", "0", { lines: [], next: "16:1" }],
  [
    "… and told once its newline is met",
    "1234567890123456\nab\n",
    "j:16:1",
    {
      lines: ["0-17 oversized", '17-20 "ab"'],
      next: "20:0",
    },
  ],
  ["… and waits while that is not yet written", "1234567890123456789", "j:16:1", { lines: [], next: "19:1" }],
  ["… also without anything new", "1234567890123456789", "j:19:1", { lines: [], next: "19:1" }],
  [
    "a carriage return before the newline is no content",
    "ab\r\n\r\n",
    "0",
    {
      lines: ['0-4 "ab"'],
      next: "6:0",
    },
  ],
  ["a blank line is passed over", "\n\r\nab\n\n", "0", { lines: ['3-6 "ab"'], next: "7:0" }],
  ["nothing new gives the cursor back", "ab\n", "j:3:0", { lines: [], next: "3:0" }],
  ["a cursor beyond the end starts again", "ab\n", "j:4:0", { lines: ['0-3 "ab"'], next: "3:0", reset: true }],
  ["a cursor beyond an empty file starts again", "", "j:4:0", { lines: [], next: "0:0", reset: true }],
  [
    "a cursor inside a line starts again",
    "ab\ncd\n",
    "j:4:0",
    {
      lines: ['0-3 "ab"', '3-6 "cd"'],
      next: "6:0",
      reset: true,
    },
  ],
  [
    "a discarding cursor beyond the end starts again",
    "ab\n",
    "j:40:1",
    {
      lines: ['0-3 "ab"'],
      next: "3:0",
      reset: true,
    },
  ],
  [
    "a discarding cursor at the start starts again",
    "ab\ncd\n",
    "j:0:1",
    {
      lines: ['0-3 "ab"', '3-6 "cd"'],
      next: "6:0",
      reset: true,
    },
  ],
  [
    "a discarding cursor behind a newline starts again",
    "ab\ncd\n",
    "j:3:1",
    {
      lines: ['0-3 "ab"', '3-6 "cd"'],
      next: "6:0",
      reset: true,
    },
  ],
  [
    "a discarding cursor inside a line that fits a page starts again",
    "ab\ncdefg\n",
    "j:5:1",
    {
      lines: ['0-3 "ab"', '3-9 "cdefg"'],
      next: "9:0",
      reset: true,
    },
  ],
];

for (const [name, text, cursor, wanted] of FORWARD) {
  test(`forward: ${name}`, async () => assert.deepEqual(await page(text, cursor), wanted));
}

const BACKWARD: readonly (readonly [string, string, number, unknown])[] = [
  ["an empty file has nothing", "", 0, { lines: [], prev: undefined }],
  ["a half line alone is nothing", "abc", 3, { lines: [], prev: undefined }],
  ["the last lines that fit", "1234567\n89abcde\nxyz\n", 20, { lines: ['8-16 "89abcde"', '16-20 "xyz"'], prev: 8 }],
  ["a half line at the end is passed over", "ab\ncd", 5, { lines: ['0-3 "ab"'], prev: undefined }],
  ["an end inside a line leaves that line out", "ab\ncd\n", 5, { lines: ['0-3 "ab"'], prev: undefined }],
  ["an end beyond the file is its end", "ab\n", 99, { lines: ['0-3 "ab"'], prev: undefined }],
  ["a first line that fills the page", "123456789012345\n", 16, { lines: ['0-16 "123456789012345"'], prev: undefined }],
  [
    "a first line one byte longer than the page",
    "1234567890123456\n",
    17,
    {
      lines: ["0-17 oversized"],
      prev: undefined,
    },
  ],
  ["a later line that fills the page", "\n123456789012345\n", 17, { lines: ['1-17 "123456789012345"'], prev: 1 }],
  ["an oversized line is told alone", "ab\n1234567890123456\ncd\n", 20, { lines: ["3-20 oversized"], prev: 3 }],
  [
    "an end inside an oversized line leaves it out",
    "ab\n1234567890123456\n",
    19,
    {
      lines: ['0-3 "ab"'],
      prev: undefined,
    },
  ],
];

for (const [name, text, end, wanted] of BACKWARD) {
  test(`backward: ${name}`, async () => assert.deepEqual(await pageBefore(text, end), wanted));
}

test("the name of a chain of files goes with the cursor", async () => {
  const buffer = pageBuffer(16);
  for (const [text, cursor] of [
    ["ab\n", "j:0:0:0a1b2c3d"],
    ["ab\n", "j:9:0:0a1b2c3d"],
    ["1234567890123456\n", "j:0:0:0a1b2c3d"],
    ["1234567890123456\n", "j:16:1:0a1b2c3d"],
  ] as const) {
    assert.equal((await readPage(source(text), parseJsonlCursor(cursor), buffer)).next.chain, "0a1b2c3d");
  }
});

test("a line start is the start of the file, and behind a newline", () => {
  const starts = [0, 1, 2, 3, 4, 5, 6, 7].filter((offset) => isLineStart(source("ab\ncd\n"), byteOffsetOf(offset)));
  assert.deepEqual(starts, [0, 3, 6]);
});

const PAGES = [16, 17, 31, 64, 100, 512, 4096];

test("any split into pages tells what one whole read tells", async () => {
  await fc.assert(
    fc.asyncProperty(hardBytes, fc.constantFrom(...PAGES), async (bytes, pageBytes) => {
      const { lines, cursors } = await readForward(bytesSource(bytes), pageBytes);
      assert.deepEqual(lines, linesIn(bytes, pageBytes));
      // Every cursor on the way is one to go on from.
      for (const cursor of cursors) {
        const rest = await readForward(bytesSource(bytes), pageBytes, cursor);
        assert.equal(rest.reset, false);
        assert.deepEqual(rest.lines, lines.slice(lines.length - rest.lines.length));
      }
    }),
    { numRuns: 300 },
  );
});

test("a file that grows by any number of bytes is told once and in order", async () => {
  await fc.assert(
    fc.asyncProperty(hardBytes, fc.constantFrom(16, 64, 512), async (bytes, pageBytes) => {
      const lines: string[] = [];
      let cursor = FILE_START;
      for (let cut = 0; cut <= bytes.length; cut++) {
        const seen = await readForward(bytesSource(bytes.subarray(0, cut)), pageBytes, cursor);
        assert.equal(seen.reset, false);
        lines.push(...seen.lines);
        cursor = seen.next;
      }
      assert.deepEqual(lines, linesIn(bytes, pageBytes));
    }),
    { numRuns: 60 },
  );
});

test("a file cut at any byte tells the lines that are complete in it, forward and backward", async () => {
  await fc.assert(
    fc.asyncProperty(hardBytes, fc.constantFrom(16, 64, 512), async (bytes, pageBytes) => {
      for (let cut = 0; cut <= bytes.length; cut++) {
        const part = bytes.subarray(0, cut);
        const wanted = linesIn(part, pageBytes);
        assert.deepEqual((await readForward(bytesSource(part), pageBytes)).lines, wanted);
        assert.deepEqual(await readBackward(bytesSource(part), pageBytes, cut), wanted);
      }
    }),
    { numRuns: 30 },
  );
});

test("paging backward from any end tells the same lines as forward", async () => {
  await fc.assert(
    fc.asyncProperty(hardBytes, fc.constantFrom(...PAGES), fc.nat(4000), async (bytes, pageBytes, end) => {
      const wanted = linesIn(bytes.subarray(0, end), pageBytes);
      assert.deepEqual(await readBackward(bytesSource(bytes), pageBytes, end), wanted);
    }),
    { numRuns: 1000 },
  );
});

test("a page is one read, as many bytes as a page and one", async () => {
  const calls: number[] = [];
  const inner = source(`${"x".repeat(9)}\n`.repeat(100));
  const counting: ByteSource = {
    size: inner.size,
    read(target, position) {
      calls.push(target.length);
      return inner.read(target, position);
    },
  };
  await readPage(counting, parseJsonlCursor("j:500:0"), pageBuffer(64));
  assert.deepEqual(calls, [65]);
});

test("the start of an oversized line is found over megabytes, and others go on meanwhile", async () => {
  const bytes = Buffer.alloc(20 * 1024 * 1024, "x");
  bytes.write("ab\n");
  bytes[bytes.length - 1] = 10;
  let turns = 0;
  const counting = setImmediate(function turn() {
    turns++;
    immediate = setImmediate(turn);
  });
  let immediate = counting;
  const { lines } = await readPageBefore(bytesSource(bytes), byteOffsetOf(bytes.length), pageBuffer(64));
  clearImmediate(immediate);
  assert.deepEqual(texts(lines), [`3-${bytes.length} oversized`]);
  assert.ok(turns >= 3, `${turns} turns`);
});

test("a file that is cut short while it is read tells nothing that is not there", async () => {
  const shrunk: ByteSource = { size: 100, read: (target, position) => source("ab\ncd").read(target, position) };
  const forward = await readPage(shrunk, parseJsonlCursor("j:50:0"), pageBuffer(16));
  assert.deepEqual([texts(forward.lines), forward.next.offset, forward.reset], [['0-3 "ab"'], 3, true]);
  const backward = await readPageBefore(shrunk, byteOffsetOf(100), pageBuffer(16));
  assert.deepEqual([texts(backward.lines), backward.prev], [['0-3 "ab"'], undefined]);
});

test("a range ends with the source", () => {
  assert.equal(readRange(source("abcdef"), 2, 4).toString(), "cd");
  assert.equal(readRange(source("abcdef"), 4, 99).toString(), "ef");
  assert.equal(readRange(source("abcdef"), 9, 99).toString(), "");
});

test("a page of the tiniest lines has 4,096 of them at most, forward and backward", async () => {
  const bytes = Buffer.from("1\n\n".repeat(10_000));
  const forward = await readPage(bytesSource(bytes), FILE_START, pageBuffer(64 * 1024));
  assert.deepEqual([forward.lines.length, forward.next.offset], [4096, 3 * 4096]);
  const backward = await readPageBefore(bytesSource(bytes), byteOffsetOf(bytes.length), pageBuffer(64 * 1024));
  assert.deepEqual([backward.lines.length, backward.end], [4096, bytes.length]);
  const all = await readForward(bytesSource(bytes), 64 * 1024);
  assert.equal(all.lines.length, 10_000);
  assert.deepEqual(await readBackward(bytesSource(bytes), 64 * 1024, bytes.length), all.lines);
});
