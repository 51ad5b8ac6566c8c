import { Failure } from "../platform/failure.ts";
import { command, home, json, NO_OPERANDS } from "./command.ts";
import { printJson } from "./print.ts";

/** `link`: a fresh way in to the server that runs. */
export const link = command({
  name: "link",
  summary: "print a link that lets a browser in, once, within ten minutes",
  operands: NO_OPERANDS,
  options: { json: { ...json, help: "print JSON: {url}" }, home },
  notes: ["It needs a server that runs: agent-bridge serve."],
  examples: [["link", "a link for another browser"]],
  async run({ terminal, bridge, environment }, { options }) {
    const ours = environment(options.home);
    const running = await bridge.running(ours);
    if (running === undefined) {
      throw new Failure("failed", `no server runs on ${ours.bridgeHome}; start one with agent-bridge serve`);
    }
    const url = await bridge.wayIn(ours, running);
    if (options.json) await printJson(terminal, { url });
    else await terminal.out(`${url}\n`);
    return 0;
  },
});
