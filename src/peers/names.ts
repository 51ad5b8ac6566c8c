import { jobNameOf } from "../runs/job.ts";
import { clip } from "../transcript/clip.ts";
import type { LiveSession } from "./live.ts";

/** Characters of a peer's name. */
export const NAME_CHARACTERS = 128;
/** Characters of a name that is made from a folder: room is left for a number behind it. */
const BASE_CHARACTERS = 120;

/** `value` as the name of a peer or of a session of ours, when it is one that a URL can hold: as the name of a job. */
export function peerNameOf(value: unknown): string | undefined {
  return jobNameOf(value);
}

/** The name of a session that was given none: its agent and the last part of its folder. */
export function derivedName({ agent, cwd }: Pick<LiveSession, "agent" | "cwd">): string {
  const folder = cwd.split(/[\\/]/).findLast((part) => part !== "") ?? "";
  const plain = (text: string): string => text.replace(/[/\p{Cc}\p{Cs}]/gu, "");
  return clip([plain(agent), plain(folder)].filter((part) => part !== "").join("-") || "session", BASE_CHARACTERS).text;
}

/** `name`, or with the least number from 2 on behind it that makes it free. */
export function freeName(name: string, isTaken: (name: string) => boolean): string {
  if (!isTaken(name)) return name;
  for (let number = 2; ; number++) {
    const numbered = `${clip(name, NAME_CHARACTERS - `-${number}`.length).text}-${number}`;
    if (!isTaken(numbered)) return numbered;
  }
}

/**
 * A name for each session, by its key; no two are the same. Those that joined have the name that they asked for, every other
 * one keeps the name that it had (`before`), and the rest are named in the order of their start.
 */
export function namesFor(
  sessions: readonly LiveSession[],
  before: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  const give = (key: string, name: string): void => {
    names.set(key, name);
    taken.add(name);
  };
  for (const { origin, key, given } of sessions) if (origin === "joined" && given !== undefined) give(key, given);
  for (const { key } of sessions) {
    const had = before.get(key);
    if (had !== undefined && !names.has(key) && !taken.has(had)) give(key, had);
  }
  const fresh = sessions.filter(({ key }) => !names.has(key)).sort(byGivenThenStart);
  for (const session of fresh) {
    give(
      session.key,
      freeName(session.given ?? derivedName(session), (name) => taken.has(name)),
    );
  }
  return names;
}

function byGivenThenStart(a: LiveSession, b: LiveSession): number {
  const given = Number(b.given !== undefined) - Number(a.given !== undefined);
  return given || a.startedAt - b.startedAt || (a.key < b.key ? -1 : 1);
}
