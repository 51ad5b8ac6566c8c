import { callServer, pathOf, type ServerAddress } from "../client/api.ts";
import { Failure } from "../platform/failure.ts";
import { printableLine } from "../transcript/printable.ts";
import { type CallingSession, callingSession, callingTools } from "./calling-session.ts";
import { command, first, home } from "./command.ts";
import { peersOf } from "./served-peers.ts";
import { serverOf } from "./server-of.ts";

/** `leave`: a session that joined is no peer any more. */
export const leave = command({
  name: "leave",
  summary: "take the name of a session that joined away again",
  operands: { shown: "[NAME]", least: 0, most: 1, completes: first("peer") },
  options: { home },
  notes: ["Without a name it is the session that runs this, found as join finds it."],
  examples: [
    ["leave", "from inside a session: be no peer any more"],
    ["leave front", "from anywhere"],
  ],
  async run(context, { options, operands: [given] }) {
    const ours = context.environment(options.home);
    const server = await serverOf(context, options.home);
    const name = given ?? (await nameOf(server, await callingSession(await callingTools(context, ours, "leave"))));
    if (name === undefined) throw new Failure("not-found", "this session has not joined; see agent-bridge peers");
    await callServer(server, "DELETE", pathOf("", "api", "peers", name));
    await context.terminal.err(`${printableLine(name)} has left\n`);
    return 0;
  },
});

/** The name that the server knows `session` by. */
export async function nameOf(
  server: ServerAddress,
  { agent, sessionId, pid }: Pick<CallingSession, "agent" | "sessionId" | "pid">,
): Promise<string | undefined> {
  const peers = (await peersOf(server)).filter((peer) => peer.agent === agent);
  return (peers.find((peer) => peer.sessionId === sessionId) ?? peers.find((peer) => peer.pid === pid))?.name;
}
