import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { environmentFrom } from "../../../src/platform/environment.ts";
import { claudeRoots } from "../../../src/stores/claude/roots.ts";
import { claudeHome, prompt, sessionId } from "./claude-home.ts";

const make = (...parts: string[]): string => {
  mkdirSync(join(...parts), { recursive: true });
  return join(...parts);
};

test("without anything set, ~/.claude is looked in, and ~/.config/claude where it has projects", async (t) => {
  const { home } = claudeHome(t);
  const environment = environmentFrom({ home });
  const found = { config: join(home, ".claude"), projects: join(home, ".claude", "projects") };
  assert.deepEqual(await claudeRoots(environment, []), [{ ...found, real: found.projects }]);
  const older = make(home, ".config", "claude", "projects");
  assert.deepEqual(
    (await claudeRoots(environment, [])).map((root) => root.real),
    [found.projects, older],
  );
});

test("CLAUDE_CONFIG_DIR is one path and replaces both", async (t) => {
  const { home } = claudeHome(t);
  make(home, ".config", "claude", "projects");
  const projects = make(home, "a,b", "é", "projects");
  const variables = { CLAUDE_CONFIG_DIR: join(home, "a,b", "é".normalize("NFD")) };
  const roots = await claudeRoots(environmentFrom({ home, variables }), []);
  assert.deepEqual(
    roots.map((root) => root.real),
    [projects],
  );
  const empty = await claudeRoots(environmentFrom({ home, variables: { CLAUDE_CONFIG_DIR: "" } }), []);
  assert.equal(empty[0]?.config, join(home, ".claude"));
});

test("extra roots are config folders, projects folders, or hold some further down", async (t) => {
  const { home } = claudeHome(t);
  const config = make(home, "backup", "projects");
  const bare = make(home, "copied", "projects");
  const nested = [make(home, "Desktop", "a", "b", "projects"), make(home, "Desktop", "a", "c", "d", "projects")];
  const deep = ["1", "2", "3", "4", "5", "6", "7", "8"];
  nested.push(make(home, "Desktop", ...deep, "projects"));
  make(home, "Other", ...deep, "9", "projects");
  const extra = [
    join(home, "backup"),
    bare,
    join(home, "Desktop"),
    join(home, "Other"),
    join(home, "nowhere"),
    "~/backup",
  ];
  const roots = await claudeRoots(environmentFrom({ home }), extra);
  assert.deepEqual(
    roots.map((root) => root.real),
    [join(home, ".claude", "projects"), config, bare, ...nested, undefined, undefined],
  );
});

test("roots that lead to one folder are one, and a projects folder that is itself a link is its target", async (t) => {
  const home = claudeHome(t);
  home.write("p", `${sessionId(1)}.jsonl`, [prompt("a")]);
  const other = make(home.home, "other");
  symlinkSync(home.projects, join(other, "projects"));
  const roots = await claudeRoots(environmentFrom({ home: home.home }), [other]);
  assert.deepEqual(
    roots.map((root) => root.config),
    [join(home.home, ".claude")],
  );
  const variables = { CLAUDE_CONFIG_DIR: other };
  const store = home.store({ environment: environmentFrom({ home: home.home, variables }) });
  assert.equal((await store.list("sweep")).length, 1);
});

test("sessions of all roots are listed together", async (t) => {
  const home = claudeHome(t);
  home.write("p", `${sessionId(1)}.jsonl`, [prompt("a")]);
  home.write("../../extra/projects/p", `${sessionId(2)}.jsonl`, [prompt("b")]);
  const rows = await home.store({ extraRoots: [join(home.home, "extra")] }).list("sweep");
  assert.deepEqual(
    rows.map((row) => row.id),
    [sessionId(1), sessionId(2)],
  );
});
