import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { closeHome, homePrivacy, makePrivateFolder } from "../../src/platform/private-folder.ts";
import { temporaryFolder } from "./folder.ts";

const top = mkdtempSync(join(tmpdir(), "folder-"));
after(() => rmSync(top, { recursive: true, force: true }));

test("missing folders are made for their owner alone, one that is there stays", () => {
  const path = join(top, "a", "b");
  makePrivateFolder(path);
  makePrivateFolder(path);
  assert.equal(statSync(path).mode & 0o777, 0o700);
  assert.equal(statSync(join(top, "a")).mode & 0o777, 0o700);
});

test("a file in the way is an error", () => {
  writeFileSync(join(top, "file"), "");
  assert.throws(() => makePrivateFolder(join(top, "file")), { code: "EEXIST" });
  assert.throws(() => makePrivateFolder(join(top, "file", "under")), { code: "EEXIST" });
});

test("a file system that makes no folders is an error, and does not hang", () => {
  const path = process.platform === "linux" ? "/proc/no-such-folder" : join(top, "file", "under");
  assert.throws(() => makePrivateFolder(path));
});

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

test("our usual folder is closed to others; one that the user named, or that is a link, is left as it is", (t) => {
  const usual = join(temporaryFolder(t), "home");
  mkdirSync(usual);
  chmodSync(usual, 0o755);
  assert.equal(homePrivacy(usual), "open");
  assert.deepEqual([closeHome(usual, false), modeOf(usual)], ["open", "755"]);
  const linked = join(temporaryFolder(t), "link");
  symlinkSync(usual, linked);
  assert.deepEqual([closeHome(linked, true), modeOf(usual)], ["open", "755"]);
  assert.deepEqual([closeHome(usual, true), modeOf(usual)], ["closed", "700"]);
  assert.deepEqual([homePrivacy(usual), closeHome(usual, true)], ["private", "private"]);
  chmodSync(usual, 0o710);
  assert.deepEqual([closeHome(usual, true), modeOf(usual)], ["closed", "700"]);
});

test("where there is no folder of ours, nothing is open", (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "file"), "");
  for (const path of [join(folder, "none"), join(folder, "file"), join(folder, "file", "below")]) {
    assert.deepEqual([homePrivacy(path), closeHome(path, true)], ["private", "private"]);
  }
});
