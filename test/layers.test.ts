import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

/** The house, from the roof down: a file may import from its own layer and from those below. */
const LAYERS = [
  "main.ts",
  "commands",
  "mcp",
  "routes",
  "dashboard",
  "server",
  "agents",
  "peers",
  "runs",
  "index",
  "export",
  "client",
  "stores",
  "transcript",
  "jsonl",
  "sqlite",
  "platform",
];

const src = fileURLToPath(new URL("../src", import.meta.url));

/** Pairs that stand beside each other: the words of cursors and limits are shared by what reads bytes and rows. */
const BESIDE: readonly (readonly [string, string])[] = [
  ["jsonl", "transcript"],
  ["sqlite", "transcript"],
];

function imports(): { from: string; to: string }[] {
  return globSync("**/*.ts", { cwd: src }).flatMap((from) => {
    const text = readFileSync(join(src, from), "utf8");
    return [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((match) => ({
      from,
      to: relative(src, join(src, dirname(from), match[1] ?? "")),
    }));
  });
}

const layerOf = (file: string): string => file.split("/")[0] ?? "";

test("imports point down the house only", () => {
  const wrong = imports().filter(({ from, to }) => {
    const [above, below] = [layerOf(from), layerOf(to)];
    if (BESIDE.some(([a, b]) => a === above && b === below)) return false;
    return LAYERS.indexOf(above) < 0 || LAYERS.indexOf(above) > LAYERS.indexOf(below);
  });
  assert.deepEqual(wrong, []);
});

test("a store knows no other store", () => {
  const storeOf = (file: string): string | undefined => /^stores\/([^/]+)\//.exec(file)?.[1];
  const wrong = imports().filter(({ from, to }) => {
    const [a, b] = [storeOf(from), storeOf(to)];
    return a !== undefined && b !== undefined && a !== b;
  });
  assert.deepEqual(wrong, []);
});

test("the environment, the arguments and the home folder are read in one place each", () => {
  const readers = (pattern: RegExp): string[] =>
    globSync("**/*.ts", { cwd: src }).filter((file) => pattern.test(readFileSync(join(src, file), "utf8")));
  assert.deepEqual(readers(/process\.env\b/), ["platform/environment.ts"]);
  assert.deepEqual(readers(/process\.argv\b/), ["main.ts"]);
  assert.deepEqual(readers(/\bhomedir\b/), ["platform/environment.ts"]);
});

test("nothing but node's own modules is imported", () => {
  const foreign = globSync("**/*.ts", { cwd: src }).flatMap((file) =>
    [...readFileSync(join(src, file), "utf8").matchAll(/^(?:import|export) .*?from "([^".][^"]*)"/gms)]
      .map((match) => match[1] ?? "")
      .filter((name) => !name.startsWith("node:")),
  );
  assert.deepEqual(foreign, []);
});
