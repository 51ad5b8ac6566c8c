import assert from "node:assert/strict";
import { test } from "node:test";
import { summarise } from "../../src/transcript/summary.ts";

const PATCH = "*** Begin Patch\n*** Update File: a.ts\n@@\n-x\n+y\n*** Add File: b c.ts\n+z\n*** End Patch";

const ROWS: readonly (readonly [string, unknown, string])[] = [
  ["Bash", { command: "npm test", description: "Runs the tests" }, "npm test"],
  ["Bash", { command: "a \\\n  b\n\n\tc" }, "a \\ b c"],
  ["Read", { file_path: "/p/a.ts", offset: 3 }, "/p/a.ts"],
  ["read", { filePath: "/p/a.ts" }, "/p/a.ts"],
  ["NotebookEdit", { notebook_path: "/p/n.ipynb", new_source: "x" }, "/p/n.ipynb"],
  ["Grep", { path: "/p", pattern: "TODO" }, "TODO"],
  ["Glob", { path: "/p", pattern: "**/*.ts" }, "**/*.ts"],
  ["WebFetch", { url: "https://example.org", prompt: "read" }, "https://example.org"],
  ["WebSearch", { query: "node sqlite" }, "node sqlite"],
  ["Agent", { prompt: "Long …", description: "count files" }, "count files"],
  ["task", { prompt: "Long …" }, "Long …"],
  ["spawn_agent", { message: "go", task_name: "child" }, "child"],
  [
    "TodoWrite",
    {
      todos: [
        { content: "one", status: "completed" },
        { content: "two", status: "in_progress" },
      ],
    },
    "two (2 steps)",
  ],
  [
    "update_plan",
    {
      plan: [
        { step: "one", status: "pending" },
        { step: "last", status: "pending" },
      ],
    },
    "last (2 steps)",
  ],
  ["update_plan", { plan: [] }, '{"plan":[]}'],
  ["shell", { command: ["bash", "-lc", "ls -l"] }, "ls -l"],
  ["shell", { command: ["/bin/sh", "-c", "ls"] }, "ls"],
  ["shell", { command: ["git", "status", "-s"] }, "git status -s"],
  ["shell", { command: ["bash", "-lc", PATCH] }, "a.ts, b c.ts"],
  ["shell", { command: [] }, '{"command":[]}'],
  ["web_search", { queries: ["a", "b"] }, "a b"],
  ["apply_patch", PATCH, "a.ts, b c.ts"],
  ["apply_patch", { input: PATCH }, "a.ts, b c.ts"],
  ["exec", "plain\ntext", "plain text"],
  ["mcp__x__y", { id: 3, deep: { a: [1] } }, '{"id":3,"deep":{"a":[1]}}'],
  ["mcp__x__y", { command: "", path: " ", query: "q" }, "q"],
  ["mcp__x__y", { command: 5, path: null }, '{"command":5,"path":null}'],
  ["mcp__x__y", [1, "a"], '[1,"a"]'],
  ["mcp__x__y", {}, "{}"],
  ["mcp__x__y", null, "null"],
  ["mcp__x__y", undefined, ""],
  ["mcp__x__y", true, "true"],
  ["constructor", { command: "c" }, "c"],
  ["__proto__", { command: "c" }, "c"],
  ["hasOwnProperty", {}, "{}"],
];

for (const [tool, input, wanted] of ROWS) {
  test(`a call of ${tool} with ${JSON.stringify(input)?.slice(0, 60)} is summed up as ${wanted}`, () => {
    assert.equal(summarise(tool, input), wanted);
  });
}

test("a long command is summed up whole, since an uncut item shows it so", () => {
  const command = `${"x".repeat(9_000)} ${" ".repeat(9_000)}end`;
  assert.equal(summarise("Bash", { command }), `${"x".repeat(9_000)} end`);
});
