import { callServer } from "../client/api.ts";
import { asObject, asText } from "../platform/read.ts";
import { printableLine } from "../transcript/printable.ts";
import { type CallingSession, callingSession, callingTools } from "./calling-session.ts";
import { command, home, json, NO_OPERANDS } from "./command.ts";
import { printJson } from "./print.ts";
import { serverOf } from "./server-of.ts";
import { nameOption } from "./starting.ts";

/** `join`: the session that runs this gets a name. */
export const join = command({
  name: "join",
  summary: "give the session that runs this a name on the server",
  operands: NO_OPERANDS,
  options: {
    name: nameOption("the name; without it one is made from the agent and its folder"),
    json,
    home,
  },
  notes: [
    "It is run by a session itself, with its shell tool or from a hook. Claude Code and Codex say in the environment which session that is; of other agents it is the session whose newest call is this command.",
    "The session is a peer until its program ends, or until leave. Joining again renames it.",
  ],
  examples: [
    ["join --name front", "be known as front"],
    ["join", "be known by agent and folder"],
  ],
  async run(context, { options }) {
    const ours = context.environment(options.home);
    const server = await serverOf(context, options.home);
    const session = await callingSession(await callingTools(context, ours, "join"));
    const peer = await callServer(server, "POST", "/api/peers", joinBody(session, options.name));
    if (options.json) await printJson(context.terminal, peer);
    else await context.terminal.out(`${printableLine(asText(asObject(peer)?.name) ?? "")}\n`);
    return 0;
  },
});

/** The body with which `session` joins. */
export function joinBody(session: CallingSession, name: string | undefined): object {
  return { ...(name !== undefined && { name }), ...session };
}
