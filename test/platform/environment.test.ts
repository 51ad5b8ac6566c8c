import assert from "node:assert/strict";
import { userInfo } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { processEnvironment } from "../../src/platform/environment.ts";

test("an empty or relative HOME makes no folder of ours wherever the shell is", (t) => {
  const { HOME } = process.env;
  t.after(() => {
    if (HOME === undefined) delete process.env.HOME;
    else process.env.HOME = HOME;
  });
  const { homedir } = userInfo();
  for (const [told, home] of [
    ["", homedir],
    ["work", homedir],
    ["/home/someone", "/home/someone"],
  ] as const) {
    process.env.HOME = told;
    const environment = processEnvironment();
    assert.equal(environment.home, home);
    if (!process.env.AGENT_BRIDGE_HOME) assert.equal(environment.bridgeHome, join(home, ".agent-bridge"));
  }
});
