import assert from "node:assert/strict";
import { test } from "node:test";
import { logTo } from "../../src/commands/log.ts";
import type { EpochMs } from "../../src/platform/clock.ts";
import { fakeTerminal } from "./fake.ts";

test("a person is told of what went wrong, the same once a minute", () => {
  const terminal = fakeTerminal();
  let now = 0;
  const log = logTo({ terminal, clock: { now: () => now as EpochMs } }, false);
  log({ level: "debug", msg: "request", route: "/api/state", status: 200, ms: 1 });
  for (now = 0; now <= 60_000; now += 1_000) log({ level: "warn", msg: "no key", route: "/api/state", status: 403 });
  const told = ["00:00:00", "00:01:00"].map((time) => `${time} warn: no key (/api/state 403)\n`);
  assert.equal(terminal.written.err, told.join(""));
});

test("a program is told of everything, a line of JSON each", () => {
  const terminal = fakeTerminal();
  const log = logTo({ terminal, clock: { now: () => 1_796_030_640_000 as EpochMs } }, true);
  log({ level: "debug", msg: "request", route: "/api/state", status: 200, ms: 1 });
  assert.equal(
    terminal.written.err,
    '{"time":1796030640000,"level":"info","msg":"request","route":"/api/state","status":200,"ms":1}\n',
  );
});
