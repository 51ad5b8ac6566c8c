import assert from "node:assert/strict";
import { test } from "node:test";
import type { EpochMs } from "../../src/platform/clock.ts";
import type { FileStamp } from "../../src/platform/files.ts";
import { etagOf, MEMO_MS, makeEtagMemo, namesEtag } from "../../src/server/etag.ts";
import type { Validity } from "../../src/server/route.ts";

const NOW = 1_796_000_000_000 as EpochMs;

function stampAged(ms: number, more: Partial<FileStamp> = {}): FileStamp {
  const mtimeNs = BigInt(NOW - ms) * 1_000_000n;
  return { path: "/a", dev: 1n, ino: 2n, size: 3, mtimeNs, ctimeNs: mtimeNs, ...more };
}

const settled = (...uses: FileStamp[]): Validity => ({ uses, settled: true });

test("an If-None-Match names an ETag by weak comparison over a list, or by a star", () => {
  const table: readonly (readonly [header: string | undefined, named: boolean])[] = [
    ['W/"a,b"', true],
    ['"a,b"', true],
    ['"x", W/"a,b"', true],
    ['"x",W/"a,b","y"', true],
    [', "x" ,, W/"a,b" ,', true],
    ["*", true],
    [" * ", true],
    [undefined, false],
    ["", false],
    ['"a"', false],
    ['"a,b', false],
    ["a,b", false],
    ['w/"a,b"', false],
    ['W/ "a,b"', false],
    ['"x" W/"a,b"', false],
    ['x"a,b"', false],
    ['"x", *', false],
  ];
  assert.deepEqual(
    table.map(([header]) => [header, namesEtag(header, 'W/"a,b"')]),
    table,
  );
});

test("a long If-None-Match that names nothing costs little", () => {
  assert.equal(namesEtag(",".repeat(100_000), 'W/"a"'), false);
  assert.equal(namesEtag('"x", '.repeat(20_000), 'W/"a"'), false);
});

test("everything that went into an answer goes into its ETag", () => {
  const base = etagOf("1", "/a?b", settled(stampAged(100)), NOW);
  assert.match(base ?? "", /^W\/"[A-Za-z0-9_-]{27}"$/);
  const others = [
    etagOf("2", "/a?b", settled(stampAged(100)), NOW),
    etagOf("1", "/a?c", settled(stampAged(100)), NOW),
    etagOf("1", "/a?b", { ...settled(stampAged(100)), facts: ["x"] }, NOW),
    etagOf("1", "/a?b", { ...settled(stampAged(100)), facts: ["x", ""] }, NOW),
    etagOf("1", "/a?b", settled(), NOW),
    etagOf("1", "/a?b", settled(stampAged(100), stampAged(100)), NOW),
    etagOf("1", "/a?b", settled(stampAged(101)), NOW),
    etagOf("1", "/a?b", settled(stampAged(100, { dev: 9n })), NOW),
    etagOf("1", "/a?b", settled(stampAged(100, { ino: 9n })), NOW),
    etagOf("1", "/a?b", settled(stampAged(100, { size: 9 })), NOW),
    etagOf("1", "/a?b", settled(stampAged(100, { ctimeNs: 9n })), NOW),
  ];
  assert.equal(new Set([base, ...others]).size, 12);
  assert.equal(etagOf("1", "/a?b", settled(stampAged(100)), (NOW + 5_000) as EpochMs), base);
});

test("what may still change unseen has no ETag", () => {
  const has = (validity: Validity): boolean => etagOf("1", "/a", validity, NOW) !== undefined;
  assert.equal(has(settled(stampAged(50))), true);
  assert.equal(has(settled(stampAged(49))), false);
  assert.equal(has(settled(stampAged(100), stampAged(0))), false);
  assert.equal(has(settled(stampAged(-5_000))), false);
  assert.equal(has({ uses: [stampAged(100)], settled: false }), false);
});

/** A memo over files that the test holds, and how often each was asked for. */
function memoOver(files: Map<string, FileStamp>, bounds?: { answers: number; stamps: number }) {
  const asked: string[] = [];
  const memo = makeEtagMemo(bounds, (path) => {
    asked.push(path);
    return files.get(path);
  });
  return { memo, asked };
}

test("an answer stays current while its files do, at one stat a file", () => {
  const stamp = stampAged(100);
  const files = new Map([["/a", stamp]]);
  const { memo, asked } = memoOver(files);
  assert.equal(memo.current("/x", NOW), undefined);
  memo.remember("/x", 'W/"1"', settled(stamp), NOW);
  assert.equal(memo.current("/x", NOW), 'W/"1"');
  assert.equal(memo.current("/y", NOW), undefined);
  assert.deepEqual(asked, ["/a"]);

  files.set("/a", stampAged(100, { size: 4 }));
  assert.equal(memo.current("/x", NOW), undefined);
  files.set("/a", stamp);
  assert.equal(memo.current("/x", NOW), undefined);

  memo.remember("/x", 'W/"1"', settled(stamp), NOW);
  files.delete("/a");
  assert.equal(memo.current("/x", NOW), undefined);
});

test("facts are asked again, and without a way to ask them an answer is not remembered", () => {
  const { memo } = memoOver(new Map());
  let generation = 1;
  memo.remember("/list", 'W/"1"', { facts: ["1"], factsNow: () => [String(generation)], uses: [], settled: true }, NOW);
  assert.equal(memo.current("/list", NOW), 'W/"1"');
  generation = 2;
  assert.equal(memo.current("/list", NOW), undefined);
  memo.remember("/list", 'W/"2"', { facts: ["2"], uses: [], settled: true }, NOW);
  assert.equal(memo.current("/list", NOW), undefined);
});

test("the memo is bounded in answers and in stamps; what was asked for least recently goes first", () => {
  const stamp = stampAged(100);
  const { memo } = memoOver(new Map([["/a", stamp]]), { answers: 3, stamps: 4 });
  for (const target of ["/1", "/2", "/3"]) memo.remember(target, 'W/"e"', settled(stamp), NOW);
  memo.current("/1", NOW);
  memo.remember("/4", 'W/"e"', settled(stamp), NOW);
  const held = (): string[] =>
    ["/1", "/2", "/3", "/4", "/5"].filter((target) => memo.current(target, NOW) !== undefined);
  assert.deepEqual(held(), ["/1", "/3", "/4"]);
  memo.remember("/5", 'W/"e"', settled(stamp, stamp, stamp), NOW);
  assert.deepEqual(held(), ["/4", "/5"]);
  memo.remember("/5", 'W/"e"', settled(stamp, stamp, stamp, stamp, stamp), NOW);
  assert.deepEqual(held(), []);
});

test("an answer is not believed for ever, so that what it failed to name does no lasting harm", () => {
  const { memo } = memoOver(new Map());
  memo.remember("/x", 'W/"1"', settled(), NOW);
  assert.equal(memo.current("/x", (NOW + MEMO_MS - 1) as EpochMs), 'W/"1"');
  assert.equal(memo.current("/x", (NOW + MEMO_MS) as EpochMs), undefined);
  memo.remember("/x", 'W/"1"', settled(), NOW);
  assert.equal(memo.current("/x", (NOW - 1) as EpochMs), undefined);
});
