import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { parseConfig, readConfig } from "../../src/platform/config.ts";
import { environmentFrom } from "../../src/platform/environment.ts";
import { Failure } from "../../src/platform/failure.ts";

const AGENTS = ["claude", "codex"];
const parse = (value: unknown) =>
  parseConfig(typeof value === "string" ? value : JSON.stringify(value), "/home/dev", AGENTS);

test("a missing file sets nothing, and an empty object neither", (t) => {
  const home = mkdtempSync(join(tmpdir(), "config-"));
  t.after(() => rmSync(home, { recursive: true }));
  const nothing = { config: { agents: new Map(), stores: new Map(), keep: false }, warnings: [] };
  assert.deepEqual(readConfig(environmentFrom({ home }), AGENTS), nothing);
  mkdirSync(join(home, ".agent-bridge"));
  writeFileSync(join(home, ".agent-bridge", "config.json"), "{}");
  assert.deepEqual(readConfig(environmentFrom({ home }), AGENTS), nothing);
  rmSync(join(home, ".agent-bridge", "config.json"));
  mkdirSync(join(home, ".agent-bridge", "config.json"));
  assert.throws(() => readConfig(environmentFrom({ home }), AGENTS), {
    kind: "failed",
    message: `${home}/.agent-bridge/config.json is a folder: move it away`,
  });
});

test("a pipe or a device in its place, or a home that is none, is said at once and never waited for", (t) => {
  const home = mkdtempSync(join(tmpdir(), "config-"));
  t.after(() => rmSync(home, { recursive: true }));
  const bridgeHome = join(home, ".agent-bridge");
  const file = join(bridgeHome, "config.json");
  const message = `${file} is a pipe, a device or the like, and no file: move it away`;
  mkdirSync(bridgeHome);
  execFileSync("/usr/bin/env", ["mkfifo", file]);
  assert.throws(() => readConfig(environmentFrom({ home }), AGENTS), { kind: "failed", message });
  rmSync(file);
  symlinkSync("/dev/zero", file);
  assert.throws(() => readConfig(environmentFrom({ home }), AGENTS), { kind: "failed", message });
  rmSync(bridgeHome, { recursive: true });
  writeFileSync(bridgeHome, "");
  for (const path of [bridgeHome, join(bridgeHome, "below")]) {
    assert.throws(() => readConfig(environmentFrom({ home, bridgeHome: path }), AGENTS), {
      kind: "failed",
      message: `${path} is a file, or lies below one: give a folder with --home or AGENT_BRIDGE_HOME`,
    });
  }
});

test("what is wrong in the file is told with the file's path", (t) => {
  const home = mkdtempSync(join(tmpdir(), "config-"));
  t.after(() => rmSync(home, { recursive: true }));
  mkdirSync(join(home, ".agent-bridge"));
  const file = join(home, ".agent-bridge", "config.json");
  writeFileSync(file, '{"prot":1}');
  assert.deepEqual(readConfig(environmentFrom({ home }), AGENTS).warnings, [
    `${file}: "prot" is not known and is ignored`,
  ]);
  writeFileSync(file, '{"port":"x"}');
  assert.throws(() => readConfig(environmentFrom({ home }), AGENTS), {
    message: `${file}: "port" must be a whole number from 0 to 65535`,
  });
  writeFileSync(file, "{");
  assert.throws(() => readConfig(environmentFrom({ home }), AGENTS), { message: `${file} is not valid JSON` });
});

test("everything that can be set is read", () => {
  const { config, warnings } = parse({
    version: 1,
    port: 5000,
    agents: { claude: { command: "claude-acp", args: ["--x"], env: { A: "1" } }, mine: { command: "mine" } },
    stores: { claude: ["/mnt/old/.claude/projects", "~/copy"], codex: [] },
    keep: true,
    keepBytes: 1_000_000,
  });
  assert.deepEqual(warnings, []);
  assert.deepEqual(config, {
    port: 5000,
    agents: new Map([
      ["claude", { command: "claude-acp", args: ["--x"], env: { A: "1" } }],
      ["mine", { command: "mine", args: [], env: {} }],
    ]),
    stores: new Map([
      ["claude", ["/mnt/old/.claude/projects", "/home/dev/copy"]],
      ["codex", []],
    ]),
    keep: true,
    keepBytes: 1_000_000,
  });
});

test("a byte-order mark before it does no harm", () => {
  assert.equal(parse('\ufeff{"port":0}').config.port, 0);
});

test("keys that are not known warn by name and do nothing", () => {
  const { config, warnings } = parse(
    '{"prot":1,"stores":{"cloud":["/x"]},"agents":{"claude":{"command":"c","argv":[]}},"__proto__":{"keep":true}}',
  );
  assert.deepEqual(warnings, [
    'config.json: "prot" is not known and is ignored',
    'config.json: "__proto__" is not known and is ignored',
    'config.json: "stores.cloud" is not known and is ignored',
    'config.json: "agents.claude.argv" is not known and is ignored',
  ]);
  assert.deepEqual([config.stores, config.keep], [new Map(), false]);
});

const WRONG: readonly (readonly [unknown, string])[] = [
  [[], "config.json must hold an object"],
  ["null", "config.json must hold an object"],
  [{ version: "1" }, 'config.json: "version" must be a whole number of at least 1'],
  [{ version: 0 }, 'config.json: "version" must be a whole number of at least 1'],
  [{ version: 2, port: "x" }, "config.json is of version 2, which a newer agent-bridge wrote: update this one"],
  [{ port: "4777" }, 'config.json: "port" must be a whole number from 0 to 65535'],
  [{ port: 65_536 }, 'config.json: "port" must be a whole number from 0 to 65535'],
  [{ port: null }, 'config.json: "port" must be a whole number from 0 to 65535'],
  [{ keep: "yes" }, 'config.json: "keep" must be true or false'],
  [{ keepBytes: -1 }, 'config.json: "keepBytes" must be a whole number of at least 0'],
  [{ keepBytes: 1.5 }, 'config.json: "keepBytes" must be a whole number of at least 0'],
  [{ agents: [] }, 'config.json: "agents" must be an object'],
  [{ agents: { claude: "claude" } }, 'config.json: "agents.claude" must be an object'],
  [{ agents: { claude: {} } }, 'config.json: "agents.claude.command" must be a text'],
  [{ agents: { claude: { command: "" } } }, 'config.json: "agents.claude.command" must be a text'],
  [{ agents: { claude: { command: "c", args: "-x" } } }, 'config.json: "agents.claude.args" must be a list of texts'],
  [{ agents: { claude: { command: "c", args: [1] } } }, 'config.json: "agents.claude.args" must be a list of texts'],
  [{ agents: { claude: { command: "c", env: { A: 1 } } } }, 'config.json: "agents.claude.env.A" must be a text'],
  [{ stores: "x" }, 'config.json: "stores" must be an object'],
  [{ stores: { claude: "/x" } }, 'config.json: "stores.claude" must be a list of texts'],
  [{ stores: { claude: ["x/y"] } }, 'config.json: "stores.claude" must be a list of absolute paths'],
  ['{\n  "agents": {"claude": secret}\n}', "config.json is not valid JSON"],
  ["", "config.json is not valid JSON"],
];

for (const [value, message] of WRONG) {
  test(`${JSON.stringify(value)} stops with: ${message}`, () => {
    assert.throws(
      () => parse(value),
      (error) => error instanceof Failure && error.kind === "failed" && error.message === message,
    );
  });
}
