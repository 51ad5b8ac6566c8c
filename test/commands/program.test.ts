import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { callWords, shellWord } from "../../src/commands/program.ts";
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
