import { type EpochMs, epochMsOf } from "../platform/clock.ts";
import type { ProcessIdentity } from "../platform/process-identity.ts";
import { asArray, asCount, asNumber, asObject, asString, asText } from "../platform/read.ts";
import { type SessionId, sessionIdOf } from "../transcript/names.ts";
import { peerNameOf } from "./names.ts";
import type { SavedPeer, SavedSession } from "./own-sessions.ts";

/** A record of `sessions` in `sessions.json`; a field of a wrong type counts as absent. Undefined: it makes no session. */
export function savedSessionOf(value: unknown): (SavedSession & { readonly id: SessionId }) | undefined {
  const record = asObject(value);
  const id = sessionIdOf(record?.id);
  const kind = kindOf(record?.kind);
  const cwd = asText(record?.cwd);
  const startedAt = timeOf(record?.startedAt);
  const status = asText(record?.status);
  if (record === undefined || id === undefined || kind === undefined) return undefined;
  if (cwd === undefined || startedAt === undefined || status === undefined) return undefined;
  return {
    id,
    kind,
    cwd,
    startedAt,
    status,
    ...present({
      agent: asText(record.agent),
      name: peerNameOf(record.name),
      model: asText(record.model),
      nativeSessionId: sessionIdOf(record.nativeSessionId),
      endedAt: timeOf(record.endedAt),
      restartedFrom: sessionIdOf(record.restartedFrom),
      argv: wordsOf(record.argv),
      permit: asText(record.permit),
      exitCode: asNumber(record.exitCode),
      signal: asText(record.signal),
      error: asText(record.error),
      owner: processOf(record.owner),
      child: processOf(record.child),
      lost: lostOf(record.lost),
    }),
  };
}

/** A record of `peers` in `sessions.json`. Undefined: it makes no peer. */
export function savedPeerOf(value: unknown): SavedPeer | undefined {
  const record = asObject(value);
  const name = peerNameOf(record?.name);
  const agent = asText(record?.agent);
  const sessionId = record?.sessionId === null ? null : sessionIdOf(record?.sessionId);
  const cwd = asText(record?.cwd);
  const process = processOf(record?.process);
  const joinedAt = timeOf(record?.joinedAt);
  if (name === undefined || agent === undefined || sessionId === undefined) return undefined;
  if (cwd === undefined || process === undefined || joinedAt === undefined) return undefined;
  return { name, agent, sessionId, cwd, process, joinedAt };
}

function kindOf(value: unknown): SavedSession["kind"] | undefined {
  return (["agent", "command", "terminal"] as const).find((kind) => kind === value);
}

function timeOf(value: unknown): EpochMs | undefined {
  return epochMsOf(value);
}

function processOf(value: unknown): ProcessIdentity | undefined {
  const record = asObject(value);
  const pid = asCount(record?.pid);
  if (record === undefined || pid === undefined || pid === 0) return undefined;
  const { start, boot, seenAt } = record;
  return { pid, ...present({ start: asText(start), boot: asText(boot), seenAt: timeOf(seenAt) }) };
}

function lostOf(value: unknown): SavedSession["lost"] {
  const record = asObject(value);
  const records = asCount(record?.records);
  const why = asString(record?.why);
  return records === undefined || why === undefined ? undefined : { records, why };
}

function wordsOf(value: unknown): readonly string[] | undefined {
  const words = asArray(value)?.map(asString);
  return words?.every((word) => word !== undefined) ? words : undefined;
}

/** The fields that have a value. */
function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
