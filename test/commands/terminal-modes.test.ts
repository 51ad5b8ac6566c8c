import assert from "node:assert/strict";
import { test } from "node:test";
import { TerminalModes } from "../../src/commands/sessions/terminal-modes.ts";

test("what a program changed is taken back, the last first, wherever its output is cut; what it took back itself is not", () => {
  const output = "a\u001b[?1049h\u001b[?1000;1006hb\u001b[?2004h\u001b[31m\u001b[?2004l\u001b[?25l\u001b[?7l\u001b[?7h";
  for (let cut = 0; cut <= output.length; cut++) {
    const modes = new TerminalModes();
    modes.note(output.slice(0, cut));
    modes.note(output.slice(cut));
    assert.equal(modes.undone(), "\u001b[?25h\u001b[?1006l\u001b[?1000l\u001b[?1049l\u001b[0m", `${cut}`);
  }
});

test("where nothing was changed only the colours are", () => {
  const modes = new TerminalModes();
  modes.note("\u001b[2J\u001b[1mplain");
  assert.equal(modes.undone(), "\u001b[0m");
});

test("a keypad that sends sequences is left sending digits again", () => {
  const modes = new TerminalModes();
  modes.note("\u001b=");
  assert.equal(modes.undone(), "\u001b>\u001b[0m");
  modes.note("\u001b>");
  assert.equal(modes.undone(), "\u001b[0m");
});
