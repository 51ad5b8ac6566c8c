import assert from "node:assert/strict";
import { test } from "node:test";
import type { Clock, EpochMs } from "../../src/platform/clock.ts";
import { humanLog, jsonLog, type Log, silentLog } from "../../src/platform/log.ts";

const clock: Clock = { now: () => 1_796_030_640_000 as EpochMs };

function lines(make: (clock: Clock, write: (line: string) => void) => Log, use: (log: Log) => void): string {
  let text = "";
  use(make(clock, (line) => (text += line)));
  return text;
}

test("a line for people says when, how grave, what, and of which request", () => {
  const text = lines(humanLog, (log) => {
    log.info("serving");
    log.warn("refused", { route: "GET /api/state", status: 403, ms: 1.6 });
    log.error("failed", { route: "GET /api/transcripts/:agent/:id" });
  });
  assert.equal(
    text,
    "09:24:00 serving\n09:24:00 warn: refused (GET /api/state 403 2 ms)\n09:24:00 error: failed (GET /api/transcripts/:agent/:id)\n",
  );
});

test("a line for programs is a JSON object with nothing but its fields", () => {
  const text = lines(jsonLog, (log) => {
    log.info("serving");
    log.warn("refused", { route: "GET /api/state", status: 403, ms: 1.6, ...{ body: "content" } });
  });
  assert.equal(
    text,
    '{"time":1796030640000,"level":"info","msg":"serving"}\n' +
      '{"time":1796030640000,"level":"warn","msg":"refused","route":"GET /api/state","status":403,"ms":2}\n',
  );
});

const KEY = "0123456789abcdef".repeat(3);

for (const [name, make] of [
  ["people", humanLog],
  ["programs", jsonLog],
] as const) {
  test(`a line for ${name} holds no query, no key, no second line and nothing a terminal obeys`, () => {
    const text = lines(make, (log) => {
      log.info(`key ${KEY}\r\nfaked line\u2028\u001b[31m\u009b1m`, { route: `GET /api/search?q=secret#x\n${KEY}` });
      log.info("x", { route: `GET /${KEY}/a` });
    });
    assert.doesNotMatch(text, /secret|0123456789abcdef|\?q/);
    assert.equal(text.split("\n").length, 3);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    assert.doesNotMatch(text.replaceAll("\n", ""), /[\u0000-\u001f\u007f-\u009f\u2028]/);
  });
}

test("a silent log says nothing", () => {
  silentLog.info("a");
  silentLog.warn("b");
  silentLog.error("c");
});
