import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { highlight } from "../../../src/dashboard/app/content/highlight.ts";
import { itemOf } from "../../../src/dashboard/app/content/item-of.ts";
import { jsonLines, prettyJson } from "../../../src/dashboard/app/content/json-text.ts";
import { lineCount, pieceEnd } from "../../../src/dashboard/app/content/pieces.ts";
import { portions } from "../../../src/dashboard/app/content/portions.ts";
import { tally, toolKind, toolName } from "../../../src/dashboard/app/content/summary.ts";
import { tasksOf } from "../../../src/dashboard/app/content/tasks.ts";
import type { Item } from "../../../src/dashboard/app/wire.ts";
import { parseMarkdown } from "../../../src/transcript/markdown/parse.ts";
import { PIECES } from "../../support/hostile.ts";

const call = (tool: string, more: Partial<Item> = {}): Item => ({ kind: "tool", at: 0, ref: "1", tool, ...more });

test("a text in pieces is the text, each piece within its limit or a little more", () => {
  const text = fc.array(fc.constantFrom("line\n", "\n", "word ", "😀"), { maxLength: 60 }).map((all) => all.join(""));
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 100 }), (whole, lines, characters) => {
      const pieces: string[] = [];
      for (let from = 0; from < whole.length; ) {
        const end = pieceEnd(whole, from, { lines, characters });
        assert.equal(end > from, true);
        pieces.push(whole.slice(from, end));
        from = end;
      }
      assert.equal(pieces.join(""), whole);
      for (const piece of pieces) {
        assert.equal(piece.isWellFormed(), true);
        assert.equal(lineCount(piece) <= lines * 1.1 + 1, true);
        assert.equal(piece.length <= characters * 1.1 + 1, true);
      }
    }),
  );
});

test("highlighted code is the code, and has no more pieces of a kind than it may", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("if ", '"s" ', "// c\n", "# c\n", "x\n", "/*", "'", ...PIECES)), (parts) => {
      const code = parts.join("");
      for (const language of ["ts", "python", "sql"]) {
        const tokens = highlight(code, language, 5);
        if (tokens.length === 0) continue;
        assert.equal(tokens.map(({ text }) => text).join(""), code);
        assert.equal(tokens.filter(({ kind }) => kind !== undefined).length <= 5, true);
      }
    }),
  );
  const kinds = (code: string, language: string) =>
    highlight(code, language).flatMap(({ text, kind }) => (kind === undefined ? [] : [`${kind} ${text}`]));
  assert.deepEqual(kinds('if (a) return "b"; // c', "ts"), [
    "keyword if",
    "keyword return",
    'string "b"',
    "comment // c",
  ]);
  assert.deepEqual(kinds("x = '#' # c", "py"), ["string '#'", "comment # c"]);
  assert.deepEqual(kinds("for it", "text"), []);
});

test("the portions of a text hold all of it, and none is much larger than the others", () => {
  const blocks = parseMarkdown(`${"3. point\n".repeat(500)}\n\nend\n\n| a |\n| - |\n${"| b |\n".repeat(500)}`);
  const all = portions(blocks, 100);
  const items = all.flat().flatMap((block) => (block.type === "list" ? block.items : []));
  const rows = all.flat().flatMap((block) => (block.type === "table" ? block.rows : []));
  assert.deepEqual([items.length, rows.length], [500, 500]);
  assert.equal(all.length > 10, true);
  const [first, second] = all.flat();
  assert.equal(first?.type === "list" && second?.type === "list" && second.start === 3 + first.items.length, true);
});

test("JSON has a line for each value only where that says the same to the last digit", () => {
  assert.equal(prettyJson('{"a": [1, "b c"]}'), '{\n  "a": [\n    1,\n    "b c"\n  ]\n}');
  for (const text of [
    "12",
    "{a}",
    '{"a": 1.0}',
    "[12345678901234567890]",
    '{"a":1,"a":2}',
    `[${'"x",'.repeat(9000)}1]`,
  ]) {
    assert.equal(prettyJson(text), undefined, text.slice(0, 40));
  }
  const deep = JSON.parse(`${"[".repeat(5000)}${"]".repeat(5000)}`);
  assert.equal(jsonLines(deep).includes("\n"), false);
});

test("the item of a record is found by its id, its tool, or what it says", () => {
  const items = [
    { kind: "assistant" as const, at: 0, ref: "1", text: "I look" },
    call("Bash", { summary: "ls -la /a" }),
    call("Bash", { summary: "ls -la /b", id: "b" }),
    call("Read", { summary: "a.txt" }),
    call("Bash", { of: "1", text: "\u001b[31mred\u001b[0m and more" }),
  ];
  assert.equal(itemOf(items, call("Read", { summary: "other" })), items[3]);
  assert.equal(itemOf(items, call("Bash", { summary: "ls -la …" })), items[1]);
  assert.equal(itemOf(items, call("Bash", { summary: "ls", id: "b" })), items[2]);
  assert.equal(itemOf(items, call("Bash", { summary: "pwd" })), undefined);
  assert.equal(itemOf(items, call("Bash", { of: "1", text: "red and…" })), items[4]);
  assert.equal(itemOf([], call("Bash")), undefined);
});

test("tools are named for people, and counted by name", () => {
  assert.equal(toolName("mcp__github__search_code"), "github: search_code");
  assert.equal(toolName("Bash"), "Bash");
  const calls = ["Bash", "Bash", "Read", "Edit a.txt", "Edit b.txt", "Edit c.txt", "`ls -la | wc`"].map((tool) =>
    call(tool),
  );
  assert.equal(tally([...calls, call("Bash", { of: "1" })]), "Edit 3 · Bash 2 · Read 1 · shell 1");
  assert.equal(
    tally(["a", "b", "c", "d", "e", "f", "g"].map((tool) => call(tool))),
    "a 1 · b 1 · c 1 · d 1 · e 1 · others 2",
  );
  assert.deepEqual(
    ["Bash", "exec_command", "Read", "apply_patch", "write_file", "Grep", "WebFetch", "Task", "update_plan", "x"].map(
      toolKind,
    ),
    ["shell", "shell", "read", "edit", "edit", "search", "web", "task", "plan", "other"],
  );
});

test("the tasks of every agent's plan are read", () => {
  assert.deepEqual(tasksOf({ todos: [{ content: "a", status: "completed", activeForm: "as" }] })?.tasks, [
    { text: "a", state: "done" },
  ]);
  assert.deepEqual(tasksOf({ explanation: "x", plan: [{ step: "b", status: "in_progress" }] }), {
    field: "plan",
    tasks: [{ text: "b", state: "now" }],
  });
  for (const input of [{ plan: "text" }, { items: [1] }, { todos: [] }, undefined])
    assert.equal(tasksOf(input), undefined);
});
