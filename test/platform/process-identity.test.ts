import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { epochMsOf } from "../../src/platform/clock.ts";
import { identityOf, isAlive, ourIdentity, startFromStat, startOf } from "../../src/platform/process-identity.ts";

const FIELDS = "1 944 944 0 -1 4194560 9 8 7 6 5 4 3 2 20 0 11 0 212183 1000 200";

test("the start is field 22, whatever the command is called", () => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    [`944 (claude) S ${FIELDS}`, "212183"],
    [`944 (a b) S ${FIELDS}\n`, "212183"],
    [`944 (a) S 1 2) R ${FIELDS}`, "212183"],
    [`944 (() ) ) D ${FIELDS}`, "212183"],
    [`944 (ended) Z ${FIELDS}`, undefined],
    [`944 (ended) X ${FIELDS}`, undefined],
    ["944 (short) S 1 2 3", undefined],
    [`944 (odd) S ${FIELDS.replace("212183", "-1")}`, undefined],
    ["", undefined],
  ];
  for (const [stat, start] of rows) assert.equal(startFromStat(stat), start, stat);
});

test("this process runs, and is told from one that had its number before or on another run of the machine", () => {
  const ours = ourIdentity();
  assert.equal(ours.pid, process.pid);
  assert.deepEqual(ours, identityOf(process.pid));
  assert.ok(isAlive(ours));
  assert.ok(isAlive({ pid: process.pid }), "the number alone, where nothing else is known");
  assert.ok(ours.start !== undefined, "every system that tests run on tells it");
  assert.ok(!isAlive({ ...ours, start: "1" }));
  if (ours.boot !== undefined) assert.ok(!isAlive({ ...ours, boot: "an earlier one" }));
});

test("a process that was seen running before the one that has its number now is gone", () => {
  const now = epochMsOf(Date.now()) ?? assert.fail();
  const alive = (seenAt: number): boolean => isAlive({ pid: process.pid, seenAt: epochMsOf(seenAt) ?? assert.fail() });
  const startedAt = now - process.uptime() * 1_000;
  assert.deepEqual([alive(now), alive(startedAt), alive(startedAt - 3_600_000), alive(0)], [true, true, false, false]);
});

test("a process is alive until it ends, also when nobody has asked how it ended", async () => {
  const child = spawn(process.execPath, ["--eval", "console.log(); setInterval(() => {}, 1000)"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  const identity = identityOf(child.pid ?? 0);
  assert.ok(identity && isAlive(identity));
  assert.equal(identity.start, startOf(identity.pid));
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  if (process.platform === "linux") {
    // Its parent, this process, has not asked yet: until then it is a zombie with that number.
    while (!/\) [ZX] /.test(readFileSync(`/proc/${identity.pid}/stat`, "utf8")));
    assert.equal(isAlive(identity), false);
    assert.equal(identityOf(identity.pid), undefined);
  }
  await ended;
  assert.equal(isAlive(identity), false);
  assert.equal(startOf(identity.pid), undefined);
});

test("no number that is not a process's is one", () => {
  for (const pid of [0, -1, -process.pid, 1.5, Number.NaN, 0x80000000, 0x7fffffff]) {
    assert.equal(identityOf(pid), undefined, String(pid));
    assert.equal(startOf(pid), undefined, String(pid));
    assert.equal(isAlive({ pid }), false, String(pid));
  }
});
