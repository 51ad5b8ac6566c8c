import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { BytePool } from "../../src/jsonl/buffers.ts";
import { byteOffsetOf } from "../../src/jsonl/cursor.ts";
import { LookBack } from "../../src/jsonl/look-back.ts";
import { type ByteSource, bytesSource } from "../../src/jsonl/source.ts";

const BLOCK = 512 * 1024;

/** A source of `size` dots with `text` at each of the places given, which counts what is read of it. */
function sourceOf(size: number, text: string, places: readonly number[] = []) {
  const bytes = Buffer.alloc(size, ".");
  for (const place of places) bytes.write(text, place);
  const inner = bytesSource(bytes);
  const read = { bytes: 0, calls: 0 };
  const source: ByteSource = {
    size,
    read(target, position) {
      const count = inner.read(target, position);
      read.bytes += count;
      read.calls++;
      return count;
    },
  };
  return { source, bytes, read };
}

function placesOf(source: ByteSource, needle: string, before: number, window?: number): number[] {
  return [...new LookBack(source, window).places(Buffer.from(needle), byteOffsetOf(before))];
}

test("places are told from the last to the first, and only those that end at or before the given one", () => {
  const { source } = sourceOf(100, "needle", [0, 20, 60]);
  assert.deepEqual(placesOf(source, "needle", 100), [60, 20, 0]);
  assert.deepEqual(placesOf(source, "needle", 66), [60, 20, 0]);
  assert.deepEqual(placesOf(source, "needle", 65), [20, 0]);
  assert.deepEqual(placesOf(source, "needle", 6), [0]);
  assert.deepEqual(placesOf(source, "needle", 5), []);
  assert.deepEqual(placesOf(source, "needle", 0), []);
  assert.deepEqual(placesOf(source, "absent", 100), []);
  assert.deepEqual(placesOf(source, "", 100), []);
});

test("places that overlap are all told", () => {
  assert.deepEqual(placesOf(bytesSource(Buffer.from("aaaa")), "aa", 4), [2, 1, 0]);
});

test("a needle is found wherever the seam between two blocks cuts it", () => {
  for (let into = 0; into <= 6; into++) {
    const at = BLOCK - into;
    const { source } = sourceOf(2 * BLOCK, "needle", [at]);
    assert.deepEqual(placesOf(source, "needle", 2 * BLOCK), [at], `${into} bytes before the seam`);
    assert.deepEqual(placesOf(source, "needle", at + 6), [at], `ending at the record, ${into} before the seam`);
    assert.deepEqual(placesOf(source, "needle", at + 5), [], `ending in the record, ${into} before the seam`);
  }
});

test("a needle across the last seam of a file that ends just behind it is found", () => {
  const { source } = sourceOf(BLOCK + 3, "needle", [BLOCK - 3]);
  assert.deepEqual(placesOf(source, "needle", BLOCK + 3), [BLOCK - 3]);
});

test("the window is exact", () => {
  const { source } = sourceOf(1000, "needle", [100]);
  assert.deepEqual(placesOf(source, "needle", 600, 500), [100]);
  assert.deepEqual(placesOf(source, "needle", 600, 499), []);
  const large = sourceOf(10 * 1024 * 1024, "needle", [1_000_000]).source;
  const reach = 8 * 1024 * 1024;
  assert.deepEqual(placesOf(large, "needle", 1_000_000 + reach), [1_000_000]);
  assert.deepEqual(placesOf(large, "needle", 1_000_001 + reach), []);
});

test("one search through the whole window reads each block once, and near ones read none again", () => {
  const { source, read } = sourceOf(12 * 1024 * 1024, "needle", [11_900_000]);
  const lookBack = new LookBack(source);
  assert.equal(lookBack.lastPlace(Buffer.from("absent"), byteOffsetOf(source.size)), undefined);
  assert.ok(read.bytes <= 8 * 1024 * 1024 + 2 * BLOCK, `${read.bytes} bytes read`);
  read.bytes = 0;
  for (let n = 0; n < 50; n++) {
    assert.equal(lookBack.lastPlace(Buffer.from("needle"), byteOffsetOf(source.size - n)), 11_900_000);
  }
  assert.ok(read.bytes <= 2 * BLOCK, `${read.bytes} bytes read`);
});

test("a search through the whole window holds few blocks", () => {
  const { source } = sourceOf(12 * 1024 * 1024, "needle", []);
  const pool = new BytePool();
  let made = 0;
  const take = pool.take.bind(pool);
  const memories = new Set<ArrayBufferLike>();
  pool.take = (length) => {
    const bytes = take(length);
    if (!memories.has(bytes.buffer)) made++;
    memories.add(bytes.buffer);
    return bytes;
  };
  const lookBack = new LookBack(source, undefined, pool);
  assert.equal(lookBack.lastPlace(Buffer.from("needle"), byteOffsetOf(source.size)), undefined);
  lookBack.close();
  assert.ok(made <= 16, `${made} blocks were made`);
});

test("what was told of a line stays as it is while other blocks are looked at", () => {
  const line = `${"x".repeat(1000)} needle ${"y".repeat(1000)}`;
  const bytes = Buffer.concat([Buffer.from(`${line}\n`), Buffer.alloc(6 * 1024 * 1024, "z\n")]);
  const lookBack = new LookBack(bytesSource(bytes));
  const told = lookBack.lineAround(byteOffsetOf(1001), 10_000);
  for (const absent of ["a", "b", "c"]) lookBack.lastPlace(Buffer.from(absent), byteOffsetOf(bytes.length));
  assert.equal(told?.bytes.toString(), line);
});

test("places found one by one are right though other blocks were looked at between them", () => {
  const spots = Array.from({ length: 30 }, (_, index) => 100_000 + index * 300_000);
  const { source } = sourceOf(10 * 1024 * 1024, "needle", spots);
  const lookBack = new LookBack(source);
  const found: number[] = [];
  for (const place of lookBack.places(Buffer.from("needle"), byteOffsetOf(source.size))) {
    found.push(place);
    lookBack.lastPlace(Buffer.from("absent"), byteOffsetOf(source.size));
  }
  const lowest = source.size - 8 * 1024 * 1024;
  assert.deepEqual(found, spots.filter((spot) => spot >= lowest).reverse());
});

test("the line around a place is given whole", () => {
  const text = "first\nsecond line\r\n\nlast";
  const lineAt = (place: number, limit = 100) => {
    const line = new LookBack(bytesSource(Buffer.from(text))).lineAround(byteOffsetOf(place), limit);
    return line && [line.start, line.bytes.toString()];
  };
  assert.deepEqual(lineAt(0), [0, "first"]);
  assert.deepEqual(lineAt(4), [0, "first"]);
  assert.deepEqual(lineAt(5), [0, "first"]);
  assert.deepEqual(lineAt(6), [6, "second line\r"]);
  assert.deepEqual(lineAt(17), [6, "second line\r"]);
  assert.deepEqual(lineAt(19), [19, ""]);
  assert.deepEqual(lineAt(20), undefined, "a line without its newline is not complete");
  assert.deepEqual(lineAt(6, 12), [6, "second line\r"]);
  assert.deepEqual(lineAt(17, 12), [6, "second line\r"]);
  assert.deepEqual(lineAt(6, 11), undefined);
  assert.deepEqual(lineAt(17, 11), undefined);
  assert.deepEqual(lineAt(0, 5), [0, "first"]);
  assert.deepEqual(lineAt(0, 4), undefined);
});

test("a line over several blocks is given whole, with any limit that holds it", () => {
  const length = 2 * BLOCK + 10;
  const { source, bytes } = sourceOf(4 * BLOCK, "\n", [99, 100 + length]);
  for (const place of [100, BLOCK - 1, BLOCK, 2 * BLOCK, 100 + length]) {
    const line = new LookBack(source).lineAround(byteOffsetOf(place), length);
    assert.equal(line?.start, 100);
    assert.equal(Buffer.compare(line.bytes, bytes.subarray(100, 100 + length)), 0);
    assert.equal(new LookBack(source).lineAround(byteOffsetOf(place), length - 1), undefined);
  }
});

test("any search equals the simplest one", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "\n"), maxLength: 60 });
  const needles = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(letters, needles, fc.nat(60), fc.nat(60), fc.nat(40), (text, needle, end, window, shift) => {
      const before = Math.min(end, text.length);
      // Most of the text lies before the first seam, the rest behind it.
      const base = BLOCK - shift;
      const source = bytesSource(Buffer.concat([Buffer.alloc(base, "\n"), Buffer.from(text)]));
      const wanted: number[] = [];
      for (let at = before - needle.length; at >= Math.max(0, before - window); at--) {
        if (text.startsWith(needle, at)) wanted.push(base + at);
      }
      assert.deepEqual(placesOf(source, needle, base + before, window), wanted);
      const start = before === 0 ? 0 : text.lastIndexOf("\n", before - 1) + 1;
      const stop = text.indexOf("\n", before);
      const line = new LookBack(source).lineAround(byteOffsetOf(base + before), window);
      const complete = stop >= 0 && stop - start <= window;
      assert.equal(line?.bytes.toString(), complete ? text.slice(start, stop) : undefined);
    }),
  );
});
