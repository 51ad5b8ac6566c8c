import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { absolute, environmentFrom, processEnvironment } from "../../src/platform/environment.ts";
import { temporaryFolder } from "./folder.ts";

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

test("a path that begins in a folder that has been removed is a failure that says what to do", (t) => {
  const before = process.cwd();
  t.after(() => process.chdir(before));
  const folder = temporaryFolder(t);
  process.chdir(folder);
  rmSync(folder, { recursive: true });
  assert.equal(absolute("/srv/x/../y"), "/srv/y");
  const message = '"x" begins in a folder that has been removed: go to another, or give it in full';
  assert.throws(() => absolute("x"), { name: "Failure", kind: "failed", message });
});

test("all variables that are set are told, also the empty ones", () => {
  const environment = environmentFrom({ home: "/h", variables: { ONE: "1", EMPTY: "", NONE: undefined } });
  assert.deepEqual(environment.variables(), { ONE: "1", EMPTY: "" });
  assert.equal(processEnvironment().variables().PATH, process.env.PATH);
});
