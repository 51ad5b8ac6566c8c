import type { ServerAddress } from "../client/api.ts";
import { Failure } from "../platform/failure.ts";
import type { Context } from "./command.ts";

/** The server that runs on our own folder, with the key to it. @throws Failure failed: none runs */
export async function serverOf(
  { bridge, environment }: Pick<Context, "bridge" | "environment">,
  home: string | undefined,
): Promise<ServerAddress> {
  const found = await runningServer({ bridge, environment }, home);
  if (found !== undefined) return found;
  throw new Failure("failed", "no server runs on this home: start one with agent-bridge serve");
}

/** The server that runs on our own folder, if one does. */
export async function runningServer(
  { bridge, environment }: Pick<Context, "bridge" | "environment">,
  home: string | undefined,
): Promise<ServerAddress | undefined> {
  const ours = environment(home);
  const running = await bridge.running(ours);
  return running && { url: running.url, key: await bridge.key(ours) };
}
