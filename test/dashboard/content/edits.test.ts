import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import type { FileEdit } from "../../../src/dashboard/app/content/changes.ts";
import { commandBeyondPatch, commandOf, editsOf } from "../../../src/dashboard/app/content/edits.ts";
import { envelopeEdits, unifiedEdits } from "../../../src/dashboard/app/content/patch.ts";
import { PIECES } from "../../support/hostile.ts";

const SIGN = { same: " ", added: "+", removed: "-" };

/** An edit as one reads it. */
const told = (edits: readonly FileEdit[] | undefined): string[] | undefined =>
  edits?.map(({ path, kind, to, note, hunks, added, removed }) =>
    [
      `${kind} ${path}${to === undefined ? "" : ` to ${to}`} +${added} -${removed}${note === undefined ? "" : ` (${note})`}`,
      ...hunks.flatMap(({ heading, lines }) => [
        ...(heading === undefined ? [] : [`@ ${heading}`]),
        ...lines.map(({ kind: sign, text }) => `${SIGN[sign]}${text}`),
      ]),
    ].join("\n"),
  );

const PATCH = `*** Begin Patch
*** Add File: hello.txt
+hello
+
*** Update File: src/a.ts
*** Move to: src/b.ts
@@ class A
 keep
-old line
+new line

@@
-gone
*** End of File
*** Delete File: old.txt
*** End Patch
`;

const PATCHED = [
  "add hello.txt +2 -0\n+hello\n+",
  "move src/a.ts to src/b.ts +1 -2\n@ class A\n keep\n-old line\n+new line\n \n-gone",
  "delete old.txt +0 -0",
];

test("Claude's edits", () => {
  const input = { replace_all: false, file_path: "/home/dev/work/proj/a.txt", old_string: "one", new_string: "uno" };
  assert.deepEqual(told(editsOf("Edit", input)), ["edit /home/dev/work/proj/a.txt +1 -1\n-one\n+uno"]);
  assert.deepEqual(told(editsOf("Write", { file_path: "/p/a", content: "x\ny\n" })), ["write /p/a +2 -0\n+x\n+y"]);
  const edits = [
    { old_string: "a", new_string: "b", replace_all: true },
    { old_string: "c\n", new_string: "" },
  ];
  assert.deepEqual(told(editsOf("MultiEdit", { file_path: "/p/a", edits })), [
    "edit /p/a +1 -2 (every occurrence)\n-a\n+b\n-c",
  ]);
  const cell = { notebook_path: "/p/n.ipynb", cell_id: "x", new_source: "print(1)", edit_mode: "insert" };
  assert.deepEqual(told(editsOf("NotebookEdit", cell)), ["edit /p/n.ipynb +1 -0 (insert a cell x)\n+print(1)"]);
});

test("Codex's patches, in each form that it calls for one", () => {
  const heredoc = `apply_patch <<'EOF'\n${PATCH}EOF\n`;
  const forms: readonly (readonly [string, unknown])[] = [
    ["apply_patch", PATCH],
    ["apply_patch", { input: PATCH }],
    ["apply_patch", { cmd: heredoc }],
    ["apply_patch", { command: ["bash", "-lc", heredoc] }],
    ["shell", { command: ["apply_patch", PATCH] }],
    ["shell_command", { command: `cd sub && ${heredoc}` }],
    ["apply_patch", { patchText: PATCH.replaceAll("\n", "\r\n") }],
    ["patch", { mode: "patch", patch: PATCH }],
  ];
  for (const [tool, input] of forms) assert.deepEqual(told(editsOf(tool, input)), PATCHED, JSON.stringify(input));
});

test("the patches that Codex wrote, in each of its versions", () => {
  const cwd = fileURLToPath(new URL("../../../fixtures/codex/", import.meta.url));
  const inputs = globSync("**/*.jsonl", { cwd }).flatMap((file) =>
    readFileSync(cwd + file, "utf8")
      .split("\n")
      .filter((line) => line.includes("*** Begin Patch") && /"type":"(?:custom_tool|function)_call"/.test(line))
      .map((line): unknown => {
        const record = JSON.parse(line);
        // The first versions wrote what is now the payload as the record itself.
        const { input, arguments: words } = record.payload ?? record;
        return input ?? JSON.parse(words);
      })
      .filter((input) => typeof input !== "string" || input.startsWith("*** Begin Patch")),
  );
  assert.equal(inputs.length > 3, true);
  for (const input of inputs) {
    assert.deepEqual(told(editsOf("apply_patch", input)), ["add hello.txt +1 -0\n+hello"], JSON.stringify(input));
  }
});

test("a command that does more than put a patch into place is told too", () => {
  const heredoc = `apply_patch <<'EOF'\n${PATCH}EOF`;
  assert.equal(commandBeyondPatch({ command: ["bash", "-lc", heredoc] }), undefined);
  assert.equal(commandBeyondPatch({ cmd: `cd sub && ${heredoc}\n` }), undefined);
  assert.equal(commandBeyondPatch({ cmd: `${heredoc}\nnpm test` }), `${heredoc}\nnpm test`);
  assert.equal(commandBeyondPatch(PATCH), undefined);
});

test("a command is what one would type", () => {
  assert.equal(commandOf({ command: ["bash", "-lc", "ls | wc"] }), "ls | wc");
  assert.equal(commandOf({ command: ["ls", "-l"] }), "ls -l");
  assert.equal(commandOf({ cmd: "ls" }), "ls");
  assert.equal(commandOf({ path: "a" }), undefined);
});

test("Codex's changes over ACP", () => {
  const changes = {
    "/p/a": { type: "update", unified_diff: "@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n", move_path: null },
    "/p/b": { type: "add", content: "new\n" },
    "/p/c": { type: "delete", content: "gone\n" },
    "/p/d": { type: "update", unified_diff: "@@ -1 +1 @@\n-x\n+y\n", move_path: "/p/e" },
  };
  assert.deepEqual(told(editsOf("Edit 4 files", { changes })), [
    "edit /p/a +1 -1\n one\n-two\n+zwei",
    "add /p/b +1 -0\n+new",
    "delete /p/c +0 -1\n-gone",
    "move /p/d to /p/e +1 -1\n-x\n+y",
  ]);
});

test("OpenCode's and Hermes' edits", () => {
  const edit = { filePath: "/p/a.txt", oldString: "line one", newString: "line uno" };
  assert.deepEqual(told(editsOf("edit", edit)), ["edit /p/a.txt +1 -1\n-line one\n+line uno"]);
  assert.deepEqual(told(editsOf("write", { filePath: "/p/a", content: "x" })), ["write /p/a +1 -0\n+x"]);
  assert.deepEqual(told(editsOf("write_file", { path: "a.txt", content: "" })), ["write a.txt +0 -0"]);
  const replace = { mode: "replace", path: "a", old_string: "x\r\ny", new_string: "x\r\nz", replace_all: false };
  assert.deepEqual(told(editsOf("patch", replace)), ["edit a +1 -1\n x\n-y\n+z"]);
});

test("what an agent tells of its changes goes before what it asked for", () => {
  const diffs = [
    { path: "/p/a.txt", oldText: "one\nsame\n", newText: "uno\nsame\n" },
    { path: "/p/b.txt", oldText: null, newText: "new\n" },
  ];
  const input = { file_path: "/p/a.txt", old_string: "x", new_string: "y" };
  assert.deepEqual(told(editsOf("Edit a.txt", input, diffs)), [
    "edit /p/a.txt +1 -1\n-one\n+uno\n same",
    "add /p/b.txt +1 -0\n+new",
  ]);
});

test("calls that change no file have no edits", () => {
  for (const [tool, input] of [
    ["Read", { file_path: "/p/a" }],
    ["Bash", { command: "grep -n '*** Begin Patch' notes.md" }],
    ["exec", `const p = "*** Begin Patch\\n*** Add File: a\\n+x\\n*** End Patch"; apply_patch(p);`],
    ["edit", '{"path":"/p/c'],
    ["Grep", { pattern: "x", path: "/p", content: "y", output_mode: "content" }],
    ["x", {}],
    ["x", undefined],
    ["x", null],
    ["x", ["a"]],
  ] as const) {
    assert.equal(editsOf(tool, input), undefined, tool);
  }
});

test("a unified diff of git tells of each file, with the numbers of its lines", () => {
  const text = `diff --git a/src/a.ts b/src/a.ts
index 1..2 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -10,3 +10,3 @@ function a() {
 keep
--- minus
+++ plus
 end
\\ No newline at end of file
diff --git a/n.txt b/n.txt
new file mode 100644
--- /dev/null
+++ b/n.txt
@@ -0,0 +1 @@
+new
diff --git a/o.txt b/o.txt
deleted file mode 100644
--- a/o.txt
+++ /dev/null
@@ -1 +0,0 @@
-old
diff --git a/x b/y
similarity index 100%
rename from x
rename to y
diff --git a/empty b/empty
new file mode 100644
`;
  const edits = unifiedEdits(text);
  assert.deepEqual(told(edits), [
    "edit src/a.ts +1 -1\n@ function a() {\n keep\n--- minus\n+++ plus\n end",
    "add n.txt +1 -0\n+new",
    "delete o.txt +0 -1\n-old",
    "move x to y +0 -0",
    "add empty +0 -0",
  ]);
  assert.deepEqual(
    edits?.[0]?.hunks[0]?.lines.map((line) => [line.old, line.new, line.noNewline]),
    [
      [10, 10, undefined],
      [11, undefined, undefined],
      [undefined, 11, undefined],
      [12, 12, true],
    ],
  );
});

test("no text of a patch fails, and each is read in full", () => {
  const parts = [
    "*** Begin Patch",
    "*** Add File: a",
    "*** Update File: b",
    "*** Move to: c",
    "*** End Patch",
    "@@ x",
    "@@ -1,2 +1 @@",
    "+a",
    "-b",
    " c",
    "--- a/x",
    "+++ b/x",
    "\\ No",
    "rename to z",
    ...PIECES,
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 20 }), (lines) => {
      const text = lines.join("\n");
      for (const edits of [envelopeEdits(text), unifiedEdits(text), editsOf("apply_patch", text)]) {
        for (const edit of edits ?? []) assert.equal(typeof edit.path, "string");
      }
      const written = text.split(/\r?\n/).map((line) => `+${line}\n`);
      const shown = envelopeEdits(`*** Begin Patch\n*** Add File: a\n${written.join("")}*** End Patch\n`);
      assert.equal(shown?.[0]?.added, written.length);
    }),
  );
});
