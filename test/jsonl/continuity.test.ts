import assert from "node:assert/strict";
import { test } from "node:test";
import { Continuity } from "../../src/jsonl/continuity.ts";
import { bytesSource } from "../../src/jsonl/source.ts";
import type { EpochMs } from "../../src/platform/clock.ts";
import type { OpenFile } from "../../src/platform/files.ts";

function file(text: string, ino = 1n): OpenFile {
  const source = bytesSource(Buffer.from(text));
  const stamp = { path: "/chat.jsonl", dev: 1n, ino, size: source.size, mtimeNs: 0n, ctimeNs: 0n };
  return { ...source, stamp, bornAt: 0 as EpochMs };
}

test("every cursor may be of a file that was always the same", () => {
  const continuity = new Continuity();
  continuity.now(file("one\n"));
  assert.equal(continuity.now(file("one\ntwo\n")).fits(8), true);
});

test("of a replaced file only cursors that were given since fit", () => {
  const replacements = [file("other\nlines\nhere\n", 1n), file("one\ntwo\nthree\n", 2n)];
  for (const replaced of replacements) {
    const continuity = new Continuity();
    continuity.now(file("one\ntwo\n"));
    const now = continuity.now(replaced);
    assert.equal(now.fits(4), false);
    now.served(0, 6);
    now.served(12, 17);
    const later = continuity.now(replaced);
    assert.deepEqual(
      [0, 6, 8, 12, 17].map((offset) => later.fits(offset)),
      [true, true, false, true, true],
    );
    later.served(6, 12);
    assert.equal(continuity.now(replaced).fits(8), true);
  }
});

test("of a file that was cut short only cursors in what is left fit, also when it has grown again", () => {
  const continuity = new Continuity();
  continuity.now(file("one\ntwo\nthree\n"));
  continuity.now(file("one\n"));
  const now = continuity.now(file("one\ntwo and a half\n"));
  assert.deepEqual([now.fits(4), now.fits(8)], [true, false]);
});

test("what a read of the old file serves says nothing of the new one", () => {
  const continuity = new Continuity();
  const old = continuity.now(file("one\ntwo\n"));
  const now = continuity.now(file("other\n", 2n));
  old.served(0, 8);
  assert.equal(now.fits(8), false);
});

test("another file is another edition, also when it has the inode of the old one and grows beyond it", () => {
  const continuity = new Continuity();
  const first = continuity.now(file("one\ntwo\n"));
  const grown = continuity.now(file("one\ntwo\nthree\n"));
  const other = continuity.now(file("six\ntwo\nthree\nfour\n"));
  const cut = continuity.now(file("six\n"));
  const again = continuity.now(file("six\n"));
  assert.equal(grown.edition, first.edition);
  assert.equal(again.edition, cut.edition);
  assert.equal(new Set([first, other, cut].map(({ edition }) => edition)).size, 3);
});
