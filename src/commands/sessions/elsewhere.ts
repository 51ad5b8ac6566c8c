import type { Context } from "../command.ts";
import type { ShownSession } from "./shown.ts";
import { goesOn } from "./shown.ts";

/** Whether another process than the server drives a session that goes on: then the server can only read what it records. */
export async function isDrivenElsewhere(
  { bridge, environment }: Pick<Context, "bridge" | "environment">,
  home: string | undefined,
  session: ShownSession,
): Promise<boolean> {
  if (!goesOn(session)) return false;
  const ours = environment(home);
  const saved = bridge
    .ownSessions(ours)
    .read()
    .sessions.find(({ id }) => id === session.id);
  const server = await bridge.running(ours);
  return saved?.owner !== undefined && server !== undefined && saved.owner.pid !== server.pid;
}
