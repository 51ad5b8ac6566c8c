import { flag } from "./arguments.ts";
import { command, home, NO_OPERANDS } from "./command.ts";

/** `token`: the dashboard key, for curl. */
export const token = command({
  name: "token",
  summary: "print the dashboard key, for curl and scripts",
  operands: NO_OPERANDS,
  options: { reset: flag("make a new key: whoever holds the old one is shut out at once"), home },
  notes: ["Whoever has the key can read every session. It is kept in our own folder, readable for you alone."],
  examples: [
    ["token", "the key; made when there is none yet"],
    ["token --reset", "a new key, also for a server that runs"],
  ],
  async run({ terminal, bridge, environment }, { options }) {
    const ours = environment(options.home);
    await terminal.out(`${await (options.reset ? bridge.newKey(ours) : bridge.key(ours))}\n`);
    return 0;
  },
});
