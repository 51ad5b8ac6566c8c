import assert from "node:assert/strict";
import { test } from "node:test";
import { tableLines } from "../../src/commands/table.ts";
import { widthOf } from "../../src/commands/width.ts";

const columns = [
  { heading: "ID" },
  { heading: "FOLDER", cut: "start", least: 4 },
  { heading: "TITLE", cut: "end", least: 4 },
] as const;
const rows = [
  ["1b0e4c52", "~/code/shop", "Fix the redirect after login"],
  ["2c7f9d13", "~/翻訳", "説明書を日本語に翻訳する"],
];

test("a table is as wide as its texts where nothing limits it", () => {
  assert.deepEqual(tableLines(columns, rows, undefined), [
    "ID        FOLDER       TITLE",
    "1b0e4c52  ~/code/shop  Fix the redirect after login",
    "2c7f9d13  ~/翻訳       説明書を日本語に翻訳する",
  ]);
});

test("a table fits the terminal: the widest columns give way, wide characters count two", () => {
  assert.deepEqual(tableLines(columns, rows, 36), [
    "ID        FOLDER       TITLE",
    "1b0e4c52  ~/code/shop  Fix the redi…",
    "2c7f9d13  ~/翻訳       説明書を日本…",
  ]);
  assert.deepEqual(tableLines(columns, rows, 24), [
    "ID        FOLDER  TITLE",
    "1b0e4c52  …/shop  Fix t…",
    "2c7f9d13  ~/翻訳  説明…",
  ]);
});

test("on the narrowest terminal columns go, and what is left is cut: no line is ever too wide", () => {
  const going = [columns[0], { ...columns[1], goes: 1 }, columns[2]];
  assert.deepEqual(tableLines(going, rows, 18), ["ID        TITLE", "1b0e4c52  Fix the…", "2c7f9d13  説明書…"]);
  for (let width = 1; width < 60; width++) {
    for (const line of [...tableLines(going, rows, width), ...tableLines(columns, rows, width)]) {
      assert.ok(widthOf(line) <= width, `"${line}" in ${width}`);
    }
  }
});
