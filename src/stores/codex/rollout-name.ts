import { type EpochMs, epochMsOf } from "../../platform/clock.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";

/** What the name of a rollout file says (Codex 0.20 to 0.171). */
export interface RolloutName {
  readonly name: string;
  /** The thread it belongs to. */
  readonly thread: SessionId;
  /** The segment it is: the thread's id for its first file, an id of its own after a revert (0.152 and newer). */
  readonly segment: SessionId;
  /** When the thread began, by its id (UUIDv7, since about 0.42). */
  readonly born?: EpochMs;
  /** Whether it is `.jsonl.zst`. */
  readonly compressed: boolean;
  /** The name without what tells copies of one segment apart: orders segments whose ids hold no time. */
  readonly stem: string;
}

const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const FORM = new RegExp(
  `(?:^|[\\\\/])((rollout-\\d{4}-\\d\\d-\\d\\dT\\d\\d-\\d\\d-\\d\\d-(${UUID})(?:_(${UUID}))?)\\.jsonl(\\.zst)?)$`,
);

/** Reads a file's name or path, of which all texts are then parts; undefined for whatever is no rollout (temporary files of compression and decompression too). */
export function rolloutNameOf(path: string): RolloutName | undefined {
  const match = FORM.exec(path);
  const [, name = path, stem = path] = match ?? [];
  const thread = sessionIdOf(match?.[3]);
  if (match === null || thread === undefined) return undefined;
  const segment = sessionIdOf(match[4]) ?? thread;
  const born = uuidTime(thread);
  return {
    name,
    thread,
    segment,
    ...(born !== undefined && { born }),
    compressed: match[5] !== undefined,
    stem,
  };
}

/** The time in a UUIDv7 (Codex writes them since about 0.42), or undefined for any other id. */
export function uuidTime(id: string): EpochMs | undefined {
  if (id.length !== 36 || id[14] !== "7") return undefined;
  return epochMsOf(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}

/** Orders the segments of one thread by age: by the time in their ids, else by the local time in their names. */
export function bySegmentAge(a: RolloutName, b: RolloutName): number {
  const [ta, tb] = [uuidTime(a.segment), uuidTime(b.segment)];
  if (ta !== undefined && tb !== undefined && ta !== tb) return ta - tb;
  return a.stem < b.stem ? -1 : a.stem > b.stem ? 1 : 0;
}
