import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { makePrivateFolder } from "../../src/platform/private-folder.ts";

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
