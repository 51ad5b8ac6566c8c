import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { callWords, inFull, programOf, shellWord } from "../../src/commands/program.ts";
import { environmentFrom } from "../../src/platform/environment.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "agent-bridge-program-")));
after(() => rmSync(folder, { recursive: true }));

test("this program is called by the Node that runs it: by name only where the shell finds that very one", () => {
  const [ours, others] = ["ours", "others"].map((name) => {
    mkdirSync(join(folder, name, "bin"), { recursive: true });
    writeFileSync(join(folder, name, "real-node"), "");
    symlinkSync(join(folder, name, "real-node"), join(folder, name, "bin", "node"));
    return join(folder, name, "bin");
  });
  const called = (...path: (string | undefined)[]): string =>
    callWords(
      "/opt/a b.mjs",
      `${ours}/node`,
      environmentFrom({ home: "/", platform: "linux", variables: { PATH: path.join(":") } }),
    );
  assert.equal(called("/nowhere", ours, others), "node '/opt/a b.mjs'");
  assert.equal(called(others, ours), `${ours}/node '/opt/a b.mjs'`);
  assert.equal(called("/project/node_modules/.bin", ours), "node '/opt/a b.mjs'");
  assert.equal(called(), `${ours}/node '/opt/a b.mjs'`);
});

test("a word is quoted where a shell would read it otherwise", () => {
  assert.deepEqual(["/opt/x-1.mjs", "a b", "it's", "$HOME", "", "~"].map(shellWord), [
    "/opt/x-1.mjs",
    "'a b'",
    "'it'\\''s'",
    "'$HOME'",
    "''",
    "'~'",
  ]);
});

/** The program in `file`, where the shell's path is `path`. */
function programAt(file: string, ...path: readonly string[]) {
  const environment = environmentFrom({ home: "/home/dev", platform: "linux", variables: { PATH: path.join(":") } });
  const commands = ["serve", "link", "help"];
  return programOf({ version: "1", file, node: "/opt/node", environment, commands });
}

test("messages name commands as they are typed: by the file's name, or by the program's where it is installed", () => {
  const bin = join(folder, "installed");
  mkdirSync(bin);
  writeFileSync(join(folder, "agent-bridge.mjs"), "");
  symlinkSync(join(folder, "agent-bridge.mjs"), join(bin, "agent-bridge"));
  const dropped = programAt(join(folder, "agent-bridge.mjs"), folder, bin);
  const installed = programAt(join(bin, "agent-bridge"), bin);
  const away = programAt(join(bin, "agent-bridge"), "/nowhere");
  assert.deepEqual(
    [dropped.name, installed.name, away.name],
    ["node agent-bridge.mjs", "agent-bridge", "node agent-bridge"],
  );
  assert.deepEqual([dropped.call, installed.call], [`/opt/node ${folder}/agent-bridge.mjs`, "agent-bridge"]);
  const message =
    "agent-bridge: another agent-bridge serves; agent-bridge link, `agent-bridge serve --open`, /x/agent-bridge link";
  assert.equal(installed.said(message), message);
  assert.equal(
    dropped.said(message),
    "agent-bridge: another agent-bridge serves; node agent-bridge.mjs link, `node agent-bridge.mjs serve --open`, /x/agent-bridge link",
  );
});

test("what is pasted elsewhere names our own folder unless it is the usual one", () => {
  const program = programAt("/opt/ab.mjs");
  const full = (bridgeHome?: string): string =>
    inFull(program, "token", environmentFrom({ home: "/home/dev", platform: "linux", bridgeHome }));
  assert.equal(full(), "/opt/node /opt/ab.mjs token");
  assert.equal(full("/home/dev/.agent-bridge"), "/opt/node /opt/ab.mjs token");
  assert.equal(full("/tmp/it's mine"), "/opt/node /opt/ab.mjs token --home '/tmp/it'\\''s mine'");
});
