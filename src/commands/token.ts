import { flag } from "./arguments.ts";
import { command, home, json, NO_OPERANDS } from "./command.ts";
import { printJson } from "./print.ts";

/** `token`: the dashboard key, for curl. */
export const token = command({
  name: "token",
  summary: "print the dashboard key, for curl and scripts",
  operands: NO_OPERANDS,
  options: {
    reset: flag("make a new key: whoever holds the old one is shut out at once"),
    json: { ...json, help: "print JSON: {key}" },
    home,
  },
  notes: ["Whoever has the key can read every session. It is kept in our own folder, readable for you alone."],
  examples: [
    ["token", "the key; made when there is none yet"],
    ["token --reset", "a new key, also for a server that runs"],
  ],
  async run({ terminal, bridge, environment }, { options }) {
    const ours = environment(options.home);
    const key = await (options.reset ? bridge.newKey(ours) : bridge.key(ours));
    if (options.json) await printJson(terminal, { key });
    else await terminal.out(`${key}\n`);
    return 0;
  },
});
