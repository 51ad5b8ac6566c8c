import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ownFiles } from "../../src/commands/own-files.ts";
import { bridgeOfThisMachine } from "../../src/commands/wiring.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { type Environment, environmentFrom } from "../../src/platform/environment.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { PROGRAM } from "./fake.ts";

function homeIn(t: TestContext, bridgeHome?: string): Environment {
  return environmentFrom({ home: temporaryFolder(t), bridgeHome });
}

test("a home that is a file or lies below one is said so, and no key is said to be there", (t) => {
  const file = join(temporaryFolder(t), "file");
  writeFileSync(file, "");
  for (const [path, found] of [
    [file, true],
    [join(file, "below"), false],
  ] as const) {
    const { home, key, config } = ownFiles(homeIn(t, path));
    const problem = `${path} is a file, or lies below one: give a folder with --home or AGENT_BRIDGE_HOME`;
    assert.deepEqual([home, key], [{ path, found, problem }, { found: false }]);
    assert.deepEqual([config.found, config.warnings], [false, []]);
  }
});

test("a folder or a pipe in the key's place is no key, and the advice works", async (t) => {
  const environment = homeIn(t);
  const { bridgeHome } = environment;
  const key = join(bridgeHome, "dashboard-key");
  const bridge = bridgeOfThisMachine({ program: PROGRAM, clock: systemClock, pid: process.pid, warn: () => {} });
  mkdirSync(key, { recursive: true });
  chmodSync(bridgeHome, 0o700);
  const problem = `dashboard-key is a folder: move it away`;
  assert.deepEqual(ownFiles(environment).key, { found: false, problem });
  await assert.rejects(bridge.key(environment), { message: problem });
  await assert.rejects(bridge.newKey(environment), { message: problem });
  rmSync(key, { recursive: true });
  execFileSync("/usr/bin/env", ["mkfifo", key]);
  assert.deepEqual(ownFiles(environment).key.found, false);
  await assert.rejects(bridge.key(environment), /is a pipe, a device or the like/);
  rmSync(key);
  assert.match(await bridge.key(environment), /^[0-9a-f]{48}$/);
  assert.deepEqual(ownFiles(environment).key, { found: true });
});

test("keys of config.json that are not known are told once by whatever reads it", async (t) => {
  const environment = homeIn(t);
  const file = join(environment.bridgeHome, "config.json");
  mkdirSync(environment.bridgeHome, { mode: 0o700 });
  writeFileSync(file, '{"prot":1}');
  const told: string[] = [];
  const warn = (message: string): void => void told.push(message);
  const bridge = bridgeOfThisMachine({ program: PROGRAM, clock: systemClock, pid: process.pid, warn });
  await bridge.histories(environment);
  await bridge.histories(environment);
  assert.deepEqual(told, [`${file}: "prot" is not known and is ignored`]);
});

test("others may not look into our usual folder; a folder that was named is left as it is, and that is told", async (t) => {
  const named = join(temporaryFolder(t), "named");
  const told: string[] = [];
  const warn = (message: string): void => void told.push(message);
  const bridge = bridgeOfThisMachine({ program: PROGRAM, clock: systemClock, pid: process.pid, warn });
  const modes: string[] = [];
  for (const environment of [homeIn(t), homeIn(t, named)]) {
    const { bridgeHome } = environment;
    mkdirSync(bridgeHome);
    chmodSync(bridgeHome, 0o755);
    assert.match(ownFiles(environment).home.warning ?? "", /^others can look into /);
    await bridge.key(environment);
    modes.push((statSync(bridgeHome).mode & 0o777).toString(8));
  }
  assert.deepEqual(modes, ["700", "755"]);
  assert.match(
    told.join("\n"),
    /^others could look into .*: it is closed to them now\nothers can look into .*: chmod 700 /,
  );
});

test("a sessions.json that can't be read keeps run from starting anything, and is told once, by its path", async (t) => {
  const home = temporaryFolder(t);
  const told: string[] = [];
  const warn = (message: string) => void told.push(message);
  const bridge = bridgeOfThisMachine({ program: PROGRAM, clock: systemClock, pid: process.pid, warn });
  const environment = environmentFrom({ home, platform: "linux" });
  mkdirSync(environment.bridgeHome, { mode: 0o700 });
  const path = join(environment.bridgeHome, "sessions.json");
  writeFileSync(path, "{", { mode: 0o600 });
  await assert.rejects(
    bridge.drive(environment, () => {}),
    {
      message: `${path} is damaged and is left as it is: move it away to go on`,
    },
  );
  assert.deepEqual(told, []);
});
