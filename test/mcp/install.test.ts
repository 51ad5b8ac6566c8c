import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { type Cli, install } from "../../src/commands/mcp/install.ts";
import { tomlOf } from "../../src/commands/mcp/toml-entry.ts";
import { environmentFrom } from "../../src/platform/environment.ts";
import { fakeContext } from "../commands/fake.ts";

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "agent-bridge-install-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

async function run(
  cli: Cli,
  how: { write?: boolean; force?: boolean; allowsAgents?: boolean; home?: string } = {},
  variables = {},
) {
  const context = fakeContext([], {
    environment: (bridgeHome) => environmentFrom({ home, bridgeHome, variables, platform: "linux" }),
  });
  await install(context, cli, { home: undefined, write: false, force: false, allowsAgents: false, ...how });
  return context.terminal.written.out;
}

const FILES = { claude: ".claude.json", codex: ".codex/config.toml", opencode: ".config/opencode/opencode.json" };
const fileOf = (cli: Cli): string => join(home, FILES[cli]);

function given(cli: Cli, text: string): void {
  mkdirSync(dirname(fileOf(cli)), { recursive: true });
  writeFileSync(fileOf(cli), text);
}

const ENTRY = { type: "stdio", command: "/usr/bin/node", args: ["/opt/agent-bridge.mjs", "mcp"] };

test("the settings are printed, and nothing is changed", async () => {
  assert.equal(
    await run("claude"),
    `claude mcp add agent-bridge --scope user -- /usr/bin/node /opt/agent-bridge.mjs mcp\n\nor, for one project, in its .mcp.json:\n\n${JSON.stringify({ mcpServers: { "agent-bridge": ENTRY } }, undefined, 2)}\n`,
  );
  assert.equal(
    await run("codex", { allowsAgents: true, home: "/srv/our files" }, { CODEX_HOME: "/srv/codex" }),
    'In /srv/codex/config.toml:\n\n[mcp_servers.agent-bridge]\ncommand = "/usr/bin/node"\nargs = ["/opt/agent-bridge.mjs","mcp","--allow-agents","--home","/srv/our files"]\nenv.CODEX_HOME = "/srv/codex"\n',
  );
  assert.match(
    await run("opencode"),
    /"command": \[\n\s+"\/usr\/bin\/node",\n\s+"\/opt\/agent-bridge.mjs",\n\s+"mcp"\n\s+\]/,
  );
  assert.deepEqual(readdirSync(home), []);
});

test("they are written where nothing was, once, for their owner alone", async () => {
  for (const cli of ["claude", "codex", "opencode"] as const) {
    assert.equal(await run(cli, { write: true }), `${fileOf(cli)} has it now\n`);
    const text = readFileSync(fileOf(cli), "utf8");
    assert.equal(statSync(fileOf(cli)).mode & 0o777, 0o600);
    assert.equal(await run(cli, { write: true }), `${fileOf(cli)} has it already\n`);
    assert.equal(readFileSync(fileOf(cli), "utf8"), text);
  }
});

test("all else in a file stays byte for byte, its mode too, and a link stays a link", async () => {
  const claude = '{\n  "numStartups": 7,\n  "projects": { "/w": {} }\n}\n';
  given("claude", claude);
  chmodSync(fileOf("claude"), 0o640);
  await run("claude", { write: true });
  const text = readFileSync(fileOf("claude"), "utf8");
  assert.ok(
    text.startsWith('{\n  "numStartups": 7,\n  "projects": { "/w": {} },\n  "mcpServers": {\n    "agent-bridge": {'),
  );
  assert.deepEqual(JSON.parse(text).mcpServers, { "agent-bridge": ENTRY });
  assert.equal(statSync(fileOf("claude")).mode & 0o777, 0o640);

  const codex = '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y"';
  mkdirSync(join(home, ".codex"));
  writeFileSync(join(home, "dotfiles.toml"), codex);
  symlinkSync("../dotfiles.toml", fileOf("codex"));
  await run("codex", { write: true });
  assert.ok(readFileSync(join(home, "dotfiles.toml"), "utf8").startsWith(`${codex}\n\n[mcp_servers.agent-bridge]\n`));
  assert.deepEqual(readdirSync(join(home, ".codex")), ["config.toml"]);

  given("opencode", "");
  writeFileSync(join(home, ".config/opencode/opencode.jsonc"), '{\n  // mine\n  "mcp": {},\n}\n');
  await run("opencode", { write: true });
  const jsonc = readFileSync(join(home, ".config/opencode/opencode.jsonc"), "utf8");
  assert.ok(jsonc.startsWith('{\n  // mine\n  "mcp": {\n    "agent-bridge": {'));
  assert.equal(readFileSync(fileOf("opencode"), "utf8"), "");
});

test("another entry of that name is replaced only by force, and what was added to ours by hand stays", async () => {
  given("codex", '[mcp_servers.agent-bridge]\ncommand = "old"\n\n[z]\na = 1\n');
  await assert.rejects(run("codex", { write: true }), { kind: "conflict", message: /--force replaces it/ });
  await run("codex", { write: true, force: true });
  assert.equal(
    readFileSync(fileOf("codex"), "utf8"),
    '[mcp_servers.agent-bridge]\ncommand = "/usr/bin/node"\nargs = ["/opt/agent-bridge.mjs","mcp"]\n\n[z]\na = 1\n',
  );
  given("claude", JSON.stringify({ mcpServers: { "agent-bridge": { command: "old" } } }));
  await assert.rejects(run("claude", { write: true }), { kind: "conflict" });
  await run("claude", { write: true, force: true });
  assert.deepEqual(JSON.parse(readFileSync(fileOf("claude"), "utf8")).mcpServers["agent-bridge"], ENTRY);
  const ours = JSON.stringify({ mcpServers: { "agent-bridge": { ...ENTRY, timeout: 5 } } });
  given("claude", ours);
  await run("claude", { write: true });
  assert.equal(readFileSync(fileOf("claude"), "utf8"), ours);
});

test("force replaces the whole entry of Codex, with the tables in it, and what comes of it is TOML", async () => {
  const variables = { CODEX_HOME: join(home, ".codex") };
  given(
    "codex",
    '[mcp_servers.agent-bridge]\ncommand = "old"\n\n[mcp_servers.agent-bridge.env]\nCODEX_HOME = "/old"\n\n[z]\na = 1\n',
  );
  await run("codex", { write: true, force: true }, variables);
  const text = readFileSync(fileOf("codex"), "utf8");
  assert.deepEqual(JSON.parse(JSON.stringify(tomlOf(text).mcp_servers)), {
    "agent-bridge": { command: "/usr/bin/node", args: ["/opt/agent-bridge.mjs", "mcp"], env: variables },
  });
  assert.match(text, /\n\[z\]\na = 1\n$/);
  assert.equal(await run("codex", { write: true }, variables), `${fileOf("codex")} has it already\n`);
});

test("settings that are damaged, or hold no table of servers, are refused with what is wrong with them", async () => {
  for (const [cli, text, message] of [
    ["codex", "[a]\nx = 1\n[a]\ny = 1\n", /\(a is given twice\)/],
    ["codex", "[[mcp_servers]]\nx = 1\n", /\(mcp_servers is a list, no table of servers\)/],
    ["codex", 'mcp_servers = "x"\n', /\(mcp_servers is a value, no table of servers\)/],
    [
      "codex",
      'mcp_servers = { x = { command = "y" } }\n',
      /^mcp_servers is written there in a form that can't be changed/,
    ],
    ["codex", "model = \n", /\(line 1 is no TOML\)/],
    ["claude", '{\n // mine\n "a": 1\n}', /\(line 2 is no JSON\)/],
    ["claude", '{"a": 1,}', /\(line 1 is no JSON\)/],
    ["opencode", '{"mcp": []}', /\(mcp is a list, no table of servers\)/],
  ] as const) {
    given(cli, text);
    for (const force of [false, true]) {
      await assert.rejects(run(cli, { write: true, force }), { name: "Failure", message }, text);
    }
    assert.equal(readFileSync(fileOf(cli), "utf8"), text);
  }
});

test("what can't be followed is left as it is, and said", async () => {
  given("claude", "{ broken");
  await assert.rejects(run("claude", { write: true }), { kind: "failed", message: /can't be read as settings/ });
  given("codex", 'mcp_servers = { agent-bridge = { command = "x" } }\n');
  await assert.rejects(run("codex", { write: true, force: true }), { kind: "conflict", message: /by hand/ });
  given("opencode", '{"mcp": []}');
  await assert.rejects(run("opencode", { write: true }), { kind: "failed" });
  assert.equal(readFileSync(fileOf("claude"), "utf8"), "{ broken");
  assert.equal(readFileSync(fileOf("opencode"), "utf8"), '{"mcp": []}');
  rmSync(fileOf("claude"));
  symlinkSync("nowhere.json", fileOf("claude"));
  await assert.rejects(run("claude", { write: true }), {
    kind: "failed",
    message: /is a link to nowhere.json, which is not there/,
  });
  assert.ok(!existsSync(join(home, "nowhere.json")));
  writeFileSync(fileOf("codex"), Buffer.from([0x78, 0xff]));
  await assert.rejects(run("codex", { write: true }), { kind: "failed", message: /no text in UTF-8/ });
});
