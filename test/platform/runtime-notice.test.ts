import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startOf } from "../../src/platform/process-identity.ts";
import {
  mayBeRunning,
  newBootNonce,
  readNotice,
  removeNotice,
  writeNotice,
} from "../../src/platform/runtime-notice.ts";
import { temporaryFolder } from "./folder.ts";
import { withoutPrivilege } from "./privilege.ts";

const notice = { url: "http://127.0.0.1:4777", port: 4777, pid: process.pid, bootNonce: "0f".repeat(16) };

test("a running server says where it is, to its owner only", async (t) => {
  const home = temporaryFolder(t);
  assert.equal(readNotice(home), undefined);
  await writeNotice(home, notice);
  assert.deepEqual(readNotice(home), notice);
  const file = join(home, "dashboard.json");
  assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), notice);
  assert.equal((statSync(file).mode & 0o777).toString(8), "600");
});

test("a notice says when its process started, where the system tells", async (t) => {
  const home = temporaryFolder(t);
  await writeNotice(home, { ...notice, start: "12345" });
  assert.deepEqual(readNotice(home), { ...notice, start: "12345" });
});

test("a server takes away its own notice and no other's", async (t) => {
  const home = temporaryFolder(t);
  await writeNotice(home, notice);
  await removeNotice(home, newBootNonce());
  assert.deepEqual(readNotice(home), notice);
  await removeNotice(home, notice.bootNonce);
  assert.equal(existsSync(join(home, "dashboard.json")), false);
  await removeNotice(home, notice.bootNonce);
});

test("a notice that no server wrote is none, and its address is this machine's whatever it says", (t) => {
  const home = temporaryFolder(t);
  const file = join(home, "dashboard.json");
  const broken = [
    "",
    "{",
    "[]",
    "null",
    JSON.stringify({ ...notice, port: 0 }),
    JSON.stringify({ ...notice, port: "4777" }),
    JSON.stringify({ ...notice, port: 70_000 }),
    JSON.stringify({ ...notice, pid: 0 }),
    JSON.stringify({ ...notice, pid: -1 }),
    JSON.stringify({ ...notice, bootNonce: "x" }),
    " ".repeat(5_000),
  ];
  for (const content of broken) {
    writeFileSync(file, content);
    assert.equal(readNotice(home), undefined, content.slice(0, 80));
  }
  writeFileSync(file, JSON.stringify({ ...notice, url: "http://evil.example", more: true }));
  assert.deepEqual(readNotice(home), notice);
});

test("a process that has ended runs no server", async () => {
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  assert.equal(mayBeRunning(notice), true);
  assert.equal(mayBeRunning({ ...notice, pid: child.pid ?? 0 }), false);
  assert.equal(mayBeRunning({ ...notice, pid: 2 ** 40 }), false);
});

test("another process that got the number of a server that has ended is not taken for it", () => {
  const start = startOf(process.pid);
  assert.equal(mayBeRunning({ ...notice, start }), true);
  if (start !== undefined) assert.equal(mayBeRunning({ ...notice, start: `${start}0` }), false);
});

test("every start draws another nonce", () => {
  assert.match(newBootNonce(), /^[0-9a-f]{32}$/);
  assert.notEqual(newBootNonce(), newBootNonce());
});

test("a notice that can't be written is a failure that says what to do, one that can't be removed is none", async (t) => {
  const folder = temporaryFolder(t);
  await writeNotice(folder, notice);
  chmodSync(folder, 0o555);
  chmodSync(join(folder, "dashboard.json"), 0o644);
  await withoutPrivilege(async () => {
    const message = `dashboard.json in ${folder} can't be used (EACCES): see to its permissions and the space on its disk`;
    await assert.rejects(writeNotice(folder, notice), { message });
    await removeNotice(folder, notice.bootNonce);
  });
  assert.equal(readNotice(folder)?.bootNonce, notice.bootNonce);
});
