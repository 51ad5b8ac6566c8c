import assert from "node:assert/strict";
import { test } from "node:test";
import { commandLine } from "../../src/dashboard/app/parts/command.ts";

test("a command to copy goes into its folder first, and quotes only what a shell would take apart", () => {
  assert.equal(commandLine(["claude", "--resume", "a1"], "/home/me/shop"), "cd /home/me/shop && claude --resume a1");
  assert.equal(commandLine(["x", "", "it's $HOME"], ""), "x '' 'it'\\''s $HOME'");
  assert.equal(commandLine(["codex"], "/my folder"), "cd '/my folder' && codex");
});
