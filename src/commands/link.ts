import { Failure } from "../platform/failure.ts";
import { command, home, NO_OPERANDS } from "./command.ts";

/** `link`: a fresh way in to the server that runs. */
export const link = command({
  name: "link",
  summary: "print a link that lets a browser in, once, within ten minutes",
  operands: NO_OPERANDS,
  options: { home },
  notes: ["It needs a server that runs: agent-bridge serve."],
  examples: [["link", "a link for another browser"]],
  async run({ terminal, bridge, environment }, { options }) {
    const ours = environment(options.home);
    const running = await bridge.running(ours);
    if (running === undefined) {
      throw new Failure("failed", `no server runs on ${ours.bridgeHome}; start one with agent-bridge serve`);
    }
    await terminal.out(`${await bridge.wayIn(ours, running)}\n`);
    return 0;
  },
});
