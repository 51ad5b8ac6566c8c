import { callServer, type ServerAddress } from "../client/api.ts";
import type { Peer } from "../peers/peer.ts";
import { epochMsOf } from "../platform/clock.ts";
import { asArray, asCount, asObject, asString, asText } from "../platform/read.ts";

/** The peers that the server knows. @throws Failure as `callServer` */
export async function peersOf(server: ServerAddress): Promise<readonly Peer[]> {
  const state = asObject(await callServer(server, "GET", "/api/state"));
  return (asArray(state?.peers) ?? []).flatMap((value) => peerFrom(value) ?? []);
}

/** A peer of a server's answer, which may be another version's. */
export function peerFrom(value: unknown): Peer | undefined {
  const fields = asObject(value);
  const name = asText(fields?.name);
  const agent = asText(fields?.agent);
  const startedAt = epochMsOf(fields?.startedAt);
  if (name === undefined || agent === undefined || startedAt === undefined) return undefined;
  const [pid, activity, title] = [asCount(fields?.pid), asText(fields?.activity), asText(fields?.title)];
  return {
    name,
    agent,
    sessionId: asText(fields?.sessionId) ?? null,
    cwd: asString(fields?.cwd) ?? "",
    ...(pid !== undefined && { pid }),
    startedAt,
    ...(activity !== undefined && { activity }),
    ...(title !== undefined && { title }),
  };
}
