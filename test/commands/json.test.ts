import assert from "node:assert/strict";
import { test } from "node:test";
import { COMMANDS } from "../../src/commands/commands.ts";

/** Commands that print no data on stdout, or nothing but what another program reads as it is. */
const WITHOUT = ["serve", "demo", "leave", "hook", "completion", "mcp"];

test("every command that prints data prints it as JSON too", () => {
  const silent = COMMANDS.filter(({ options }) => options.json === undefined).map(({ name }) => name);
  assert.deepEqual(
    silent.filter((name) => !WITHOUT.includes(name)),
    [],
  );
});

test("every word behind a command that prints data does", () => {
  for (const { name, verbs = {} } of COMMANDS) {
    for (const [verb, options] of Object.entries(verbs)) {
      // A session that is attached to is a terminal, not data: `events` has what it did.
      if (verb !== "attach") assert.ok(options.includes("json"), `${name} ${verb}`);
    }
  }
});
