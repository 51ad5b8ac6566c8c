import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { EpochMs } from "../../src/platform/clock.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { endInterruptedLogs } from "../../src/runs/interrupted.ts";

const SINCE = Date.parse("2026-02-03T10:00:00.000Z") as EpochMs;
const GONE = { pid: 4_000_000, start: "1" };
const STARTED = "10:00:01 fake in /srv, access default, by user\n         go\n         ---\n10:00:01 started\n";

function home(t: TestContext) {
  const bridgeHome = mkdtempSync(join(tmpdir(), "agent-bridge-interrupted-"));
  t.after(() => rmSync(bridgeHome, { recursive: true, force: true }));
  const runs = join(bridgeHome, "runs");
  mkdirSync(runs);
  const path = (second: number, ending = "log", id = "4be1a7d2"): string =>
    join(runs, `2026-02-03-10-00-0${second}-fake-${id}.${ending}`);
  const ours = { writer: "agent-bridge", recording: "sess_4be1a7d2", host: GONE };
  return {
    runs,
    path,
    put(second: number, text: string, metadata: object | undefined = ours, id?: string) {
      writeFileSync(path(second, "log", id), text);
      if (metadata !== undefined) writeFileSync(path(second, "json", id), JSON.stringify(metadata));
    },
    ours,
    end: () =>
      endInterruptedLogs(
        { bridgeHome, clock: systemClock },
        { job: "fake-job-4be1a7d2", recording: "sess_4be1a7d2", since: SINCE },
        ({ pid }) => pid !== GONE.pid,
      ),
  };
}

test("the log of a run whose process is gone gets its end, as of when it was written last; once", async (t) => {
  const { put, path, end } = home(t);
  put(1, `${STARTED}10:00:02 finished after 1s · done\n`);
  put(3, `${STARTED}10:00:04 answer: to`);
  const at = new Date(2026, 1, 3, 11, 12, 13);
  utimesSync(path(3), at, at);
  await end();
  const [done, log] = [readFileSync(path(1), "utf8"), readFileSync(path(3), "utf8")];
  assert.match(log, /10:00:04 answer: to\n11:12:13 finished after \d+s · interrupted\n$/);
  assert.equal(statSync(path(3)).mtimeMs, at.getTime());
  assert.match(done, /1s · done\n$/);
  await end();
  assert.equal(readFileSync(path(3), "utf8"), log);
});

for (const [whose, metadata] of [
  ["another program", { recording: "sess_4be1a7d2", host: GONE }],
  ["another session", { writer: "agent-bridge", recording: "sess_00000000", host: GONE }],
  ["a process that lives", { writer: "agent-bridge", recording: "sess_4be1a7d2", host: { pid: 1, start: "1" } }],
  ["nobody knows whom", { writer: "agent-bridge", recording: "sess_4be1a7d2" }],
] as const) {
  test(`the log of ${whose} stays as it is`, async (t) => {
    const { put, path, end } = home(t);
    put(3, STARTED, metadata);
    await end();
    assert.equal(readFileSync(path(3), "utf8"), STARTED);
  });
}

test("a log of another job, one from before the session, and a link stay as they are", async (t) => {
  const { put, path, end, runs, ours } = home(t);
  put(3, STARTED, ours, "00000000");
  const older = join(runs, "2026-02-03-09-59-50-fake-4be1a7d2.log");
  writeFileSync(older, STARTED);
  const target = join(runs, "target.txt");
  writeFileSync(target, STARTED);
  symlinkSync(target, path(5));
  await end();
  for (const file of [path(3, "log", "00000000"), older, target]) assert.equal(readFileSync(file, "utf8"), STARTED);
});
