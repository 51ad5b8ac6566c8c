import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { zstdCompressSync } from "node:zlib";
import { sqlite, zstd } from "../../src/platform/builtins.ts";

test("SQLite and zstd are there", () => {
  const database = new (sqlite().DatabaseSync)(":memory:");
  assert.equal(database.prepare("SELECT 1 + 1 AS two").get()?.two, 2);
  database.close();
  assert.equal(zstd().zstdDecompressSync(zstdCompressSync("a frame")).toString(), "a frame");
});

const BUILTINS = new URL("../../src/platform/builtins.ts", import.meta.url).href;

/** What a program that drops the warning prints on stderr. */
function stderrOf(node: string, flags: readonly string[], program: string): string {
  const script = `import { dropSqliteWarning, sqlite } from ${JSON.stringify(BUILTINS)}; dropSqliteWarning(); ${program}`;
  const args = [...flags, "--input-type=module", "--eval", script];
  return spawnSync(node, args, { encoding: "utf8", timeout: 20_000 }).stderr;
}

const oldest = fileURLToPath(new URL("../../node_modules/node-oldest/bin/node", import.meta.url));

for (const [name, node, flags] of [
  ["the newest Node", process.execPath, []],
  ["the oldest Node", oldest, ["--experimental-strip-types"]],
] as const) {
  test(`on ${name} nothing is said of SQLite, and every other warning comes through`, () => {
    assert.doesNotMatch(stderrOf(node, flags, 'new (sqlite().DatabaseSync)(":memory:");'), /SQLite/);
    const others = stderrOf(
      node,
      flags,
      `process.emitWarning("SQLite is an experimental feature and might change at any time", "ExperimentalWarning");
       process.emitWarning("Another is an experimental feature", "ExperimentalWarning");
       process.emitWarning("SQLite is an experimental idea", "OwnWarning");
       process.emitWarning("old", { type: "DeprecationWarning", code: "DEP9999", detail: "more" });
       process.emitWarning(new Error("an error"));
       process.emitWarning("plain");`,
    );
    assert.doesNotMatch(others, /SQLite is an experimental feature/);
    for (const text of [
      "ExperimentalWarning: Another is an experimental feature",
      "OwnWarning: SQLite is an experimental idea",
      "[DEP9999] DeprecationWarning: old",
      "more",
      "an error",
      "Warning: plain",
    ]) {
      assert.ok(others.includes(text), `${text} in ${others}`);
    }
  });
}
