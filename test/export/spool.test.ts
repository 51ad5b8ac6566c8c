import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { NoRoom, Spool } from "../../src/export/spool.ts";

function temporary(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "spool-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function bytesOf(parts: AsyncIterable<Buffer>): Promise<string> {
  const all: Buffer[] = [];
  for await (const part of parts) all.push(part);
  return Buffer.concat(all).toString("utf8");
}

for (const memory of [1_000_000_000, 0, 100_000]) {
  test(`what goes in comes out, with what is put in between (${memory} bytes of memory)`, async (t) => {
    const spool = new Spool(join(temporary(t), "cache"), memory);
    let whole = "";
    const places: number[] = [];
    for (let i = 0; i < 400; i++) {
      const text = `${i} ${"ä€🙂x".repeat((i * 37) % 500)}${i % 100 === 0 ? "long".repeat(60_000) : ""}\n`;
      spool.add(text);
      whole += text;
      places.push(spool.size);
      await spool.flush();
    }
    await spool.finish();
    assert.equal(spool.size, Buffer.byteLength(whole));
    assert.equal(await bytesOf(spool.read()), whole);
    const inserts = [
      { at: 0, text: "<head>" },
      { at: places[9] ?? 0, text: "(" },
      { at: places[9] ?? 0, text: "[" },
      { at: places[399] ?? 0, text: Buffer.from("<end>") },
    ];
    const bytes = Buffer.from(whole);
    const middle = bytes.subarray(0, places[9]).toString("utf8");
    const rest = bytes.subarray(places[9]).toString("utf8");
    assert.equal(await bytesOf(spool.readWith(inserts)), `<head>${middle}([${rest}<end>`);
    await spool.close();
  });
}

test("what waits on the disk can be opened by us alone, has no name, and is gone when it is closed", async (t) => {
  const folder = join(temporary(t), "cache");
  const spool = new Spool(folder, 0);
  assert.equal(existsSync(folder), false);
  spool.add("x".repeat(1_000_000));
  await spool.flush();
  await spool.finish();
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.deepEqual(readdirSync(folder), []);
  assert.equal((await bytesOf(spool.read())).length, 1_000_000);
  await spool.close();
  assert.deepEqual(readdirSync(folder), []);
});

test("a folder that can't be written is told with what to do", async (t) => {
  const file = join(temporary(t), "file");
  writeFileSync(file, "");
  chmodSync(file, 0o600);
  const spool = new Spool(join(file, "cache"), 0);
  spool.add("x".repeat(1_000_000));
  await spool.flush();
  await assert.rejects(spool.finish(), (error) => {
    assert.ok(error instanceof NoRoom);
    assert.equal(error.kind, "conflict");
    assert.match(error.message, /waits in a file .* can't be written \(E\w+\): see to the permissions and the space/);
    return true;
  });
  await spool.close();
});
