import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { acpSuite } from "./acp-suite.ts";
import { CLAUDE, CODEX, OPENCODE } from "./agents.ts";

const FAILED = [1, "error", "turn-end error"];

acpSuite(CLAUDE, {
  // With it every session joins by itself, also those that are ours.
  prepare: async ({ machine }) => {
    mkdirSync(join(machine.home, ".claude"));
    writeFileSync(join(machine.home, ".claude/settings.json"), (await machine.run("hook", "claude", "--print")).out);
  },
  asks: CLAUDE.shell,
  refused: FAILED,
});

acpSuite(CODEX, {
  asks: (cmd) =>
    `@call exec_command ${JSON.stringify({ cmd, sandbox_permissions: "require_escalated", justification: "It must." })}`,
  // It says the error as any text, and ends the turn as any.
  refused: [0, "turn-end completed"],
});

acpSuite(OPENCODE, { asks: OPENCODE.shell, refused: FAILED });
