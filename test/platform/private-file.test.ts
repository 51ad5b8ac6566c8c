import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createPrivate, readPrivate, writePrivate } from "../../src/platform/private-file.ts";
import { temporaryFolder } from "./folder.ts";

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

test("a private file and the folders made for it are closed to others", async (t) => {
  const home = join(temporaryFolder(t), "a", "b");
  await writePrivate(join(home, "file"), "text");
  assert.equal(readFileSync(join(home, "file"), "utf8"), "text");
  assert.deepEqual([modeOf(home), modeOf(join(home, "..")), modeOf(join(home, "file"))], ["700", "700", "600"]);
});

test("writing replaces what is there, leaves nothing beside it, and does not follow a link", async (t) => {
  const home = temporaryFolder(t);
  writeFileSync(join(home, "target"), "untouched");
  symlinkSync("target", join(home, "file"));
  await writePrivate(join(home, "file"), "new");
  assert.equal(readFileSync(join(home, "target"), "utf8"), "untouched");
  assert.deepEqual(readdirSync(home).sort(), ["file", "target"]);
});

test("a write that fails leaves the old file and nothing beside it", async (t) => {
  const home = temporaryFolder(t);
  mkdirSync(join(home, "file"));
  await assert.rejects(writePrivate(join(home, "file"), "new"));
  assert.deepEqual(readdirSync(home), ["file"]);
});

test("of several that create a file at once, one does", async (t) => {
  const home = temporaryFolder(t);
  const file = join(home, "file");
  const made = await Promise.all(Array.from({ length: 20 }, (_, i) => createPrivate(file, `from ${i}`)));
  assert.deepEqual(
    made.filter((did) => did),
    [true],
  );
  assert.equal(readFileSync(file, "utf8"), `from ${made.indexOf(true)}`);
  assert.deepEqual([readdirSync(home), modeOf(file)], [["file"], "600"]);
});

test("reading is bounded, and never waits", (t) => {
  const home = temporaryFolder(t);
  const file = join(home, "file");
  assert.equal(readPrivate(file, 4), undefined);
  writeFileSync(file, "four", { mode: 0o600 });
  assert.deepEqual(readPrivate(file, 4), { bytes: Buffer.from("four"), tooOpen: false });
  chmodSync(file, 0o640);
  assert.equal(readPrivate(file, 4)?.tooOpen, true);
  assert.throws(() => readPrivate(file, 3), { message: "file is over 3 bytes" });
  assert.throws(() => readPrivate(home, 3), { message: /is a folder: move it away$/ });
  execFileSync("/usr/bin/env", ["mkfifo", join(home, "pipe")]);
  assert.throws(() => readPrivate(join(home, "pipe"), 3), {
    message: "pipe is a pipe, a device or the like, and no file: move it away",
  });
});
