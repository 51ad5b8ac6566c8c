import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { agentCommand, knownAgents } from "../../src/agents/agent-command.ts";
import type { AgentCommand } from "../../src/platform/config.ts";
import { environmentFrom } from "../../src/platform/environment.ts";
import { Failure } from "../../src/platform/failure.ts";

let home: string;
let bin: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "agent-command-"));
  bin = join(home, "bin");
  mkdirSync(bin);
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

function install(name: string, mode = 0o755): string {
  const path = join(bin, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "#!/bin/sh\n");
  chmodSync(path, mode);
  return path;
}

function sources(agents: { readonly [name: string]: Partial<AgentCommand> } = {}, path: string = bin) {
  const whole = Object.entries(agents).map(
    ([name, command]) => [name, { command: "", args: [], env: {}, ...command }] as const,
  );
  return { agents: new Map(whole), environment: environmentFrom({ home, variables: { PATH: path } }) };
}

function failureOf(act: () => unknown): Failure {
  try {
    act();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  assert.fail("it did not fail");
}

test("each agent is started by the program that speaks ACP for it", () => {
  const asked = [
    ["claude", "claude-agent-acp", []],
    ["codex", "codex-acp", []],
    ["opencode", "opencode", ["acp"]],
    ["hermes", "hermes", ["acp"]],
    ["gemini", "gemini", ["--acp"]],
    ["mastra-agent", "mastracode", ["--acp"]],
  ] as const;
  for (const [agent, program, args] of asked) {
    const command = install(program);
    const { asking: _, ...found } = agentCommand(agent, sources());
    assert.deepEqual(found, { agent, command, args, env: {} });
  }
});

test("claude-code is claude", () => {
  const command = install("claude-code-acp");
  assert.deepEqual(agentCommand("claude-code", sources()), { agent: "claude", command, args: [], env: {} });
});

test("OpenCode, which asks by its configuration alone, is told to ask, wherever it was found", () => {
  const asking = { OPENCODE_PERMISSION: '{"edit":"ask","bash":"ask","webfetch":"ask","websearch":"ask"}' };
  const command = install("opencode");
  assert.deepEqual(agentCommand("opencode", sources()).asking, asking);
  assert.deepEqual(agentCommand("opencode", sources({ opencode: { command, args: ["acp"] } })).asking, asking);
  assert.deepEqual(agentCommand("mine", sources({ mine: { command } })).asking, undefined);
});

test("the newer of two programs is taken, wherever it stands on the PATH", () => {
  install("first/claude-code-acp");
  const newer = install("second/claude-agent-acp");
  const path = `${join(bin, "first")}:${join(bin, "second")}`;
  assert.equal(agentCommand("claude", sources({}, path)).command, newer);
});

test("a Gemini CLI before 0.33 is told by the older option", () => {
  const script = install("lib/node_modules/@google/gemini-cli/dist/index.js");
  const versions = { "0.32.1": "--experimental-acp", "0.33.0": "--acp", "1.2.0": "--acp", strange: "--acp" };
  symlinkSync(script, join(bin, "gemini"));
  for (const [version, option] of Object.entries(versions)) {
    writeFileSync(
      join(bin, "lib/node_modules/@google/gemini-cli/package.json"),
      JSON.stringify({ name: "@google/gemini-cli", version }),
    );
    assert.deepEqual(agentCommand("gemini", sources()).args, [option]);
  }
});

test("an agent that is not installed fails with what to install", () => {
  const failure = failureOf(() => agentCommand("claude-code", sources()));
  assert.equal(failure.kind, "not-found");
  assert.equal(
    failure.message,
    "no ACP command for claude (claude-agent-acp or claude-code-acp) was found on the PATH: npm install -g @agentclientprotocol/claude-agent-acp, or set agents.claude in config.json",
  );
});

test("folders, files that can't be run, and folders of the PATH that are not given in full are passed over", () => {
  mkdirSync(join(bin, "codex-acp"));
  install("opencode", 0o644);
  install("here/hermes");
  for (const agent of ["codex", "opencode", "hermes"]) {
    assert.equal(failureOf(() => agentCommand(agent, sources({}, `:./bin/here:${bin}`))).kind, "not-found");
  }
});

test("config.json wins, under either name, and may name agents of its own", () => {
  install("codex-acp");
  const mine = install("mine");
  const set = sources({
    codex: { command: mine, args: ["--x"], env: { A: "b" } },
    "claude-code": { command: "mine" },
    "my-agent": { command: "~/bin/mine" },
  });
  assert.deepEqual(agentCommand("codex", set), { agent: "codex", command: mine, args: ["--x"], env: { A: "b" } });
  assert.deepEqual(agentCommand("claude", set), { agent: "claude", command: mine, args: [], env: {} });
  assert.deepEqual(agentCommand("my-agent", set), { agent: "my-agent", command: mine, args: [], env: {} });
});

test("a command in config.json that can't be run is named by its key", () => {
  const set = sources({ a: { command: "missing" }, b: { command: "./b" }, c: { command: "/no/such/program" } });
  const failures = ["a", "b", "c"].map((name) => failureOf(() => agentCommand(name, set)));
  assert.deepEqual(
    failures.map(({ kind, message }) => [kind, message.split(" ", 1)[0]]),
    [
      ["not-found", "agents.a.command"],
      ["usage", "agents.b.command"],
      ["not-found", "agents.c.command"],
    ],
  );
});

test("an unknown agent fails with the known ones and the one that was probably meant", () => {
  const failure = failureOf(() => agentCommand("cladue", sources({ mine: { command: "x" } })));
  assert.equal(failure.kind, "usage");
  assert.equal(
    failure.message,
    'no agent is called "cladue"; did you mean claude? (known are claude, codex, opencode, hermes, gemini, mastra-agent, mine; agents.<name> in config.json sets others)',
  );
  assert.match(
    failureOf(() => agentCommand("\u001b[31mzzz", sources())).message,
    /^no agent is called "zzz" \(known are/,
  );
});

test("the known agents are listed with whether each is installed", () => {
  install("opencode");
  const listed = knownAgents(sources({ mine: { command: "missing" }, "claude-code": { command: "missing" } }));
  assert.deepEqual(
    listed.filter((known) => ["claude", "opencode", "mine"].includes(known.name)),
    [
      { name: "claude", isInstalled: false, remedy: "see to agents.claude-code in config.json" },
      { name: "opencode", isInstalled: true, remedy: "npm install -g opencode-ai" },
      { name: "mine", isInstalled: false, remedy: "see to agents.mine in config.json" },
    ],
  );
  assert.equal(listed.length, 7);
});
