import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type OpenCodeHistory, writeOpenCodeHistory } from "../history/opencode.ts";
import { type History, USUAL, type WrittenSession, writeBigHistory, writeHistory } from "../history.ts";
import type { Bench, Chats } from "./measure.ts";

/** How large the histories of a run are. */
export interface Sizes {
  readonly seed: number;
  readonly sessions: number;
  readonly mb: number;
  readonly bigMb: number;
  readonly lineMb: number;
  readonly opencodeMb: number;
}

/** How many times the small history goes into the large one. */
export const SCALE = 4;
/** To be raised whenever the generator writes other bytes for the same plan, so that kept histories are made anew. */
const GENERATOR = 2;
const CHAT_MB = { small: 10, large: 60 };

/** Makes what a run reads, below `folder`; what an earlier run with the same sizes left there is used again. */
export function makeHistories(
  folder: string,
  sizes: Sizes,
): Pick<Bench, "small" | "large" | "chats" | "big" | "opencode"> {
  const { seed } = sizes;
  const usual = (sessions: number, mb: number) => ({ ...USUAL, seed, sessions, bytes: mb * 1e6 });
  const small = usual(Math.max(1, Math.round(sizes.sessions / SCALE)), sizes.mb / SCALE);
  const large = usual(sizes.sessions, sizes.mb);
  const big = { ...USUAL, seed, bytes: sizes.bigMb * 1e6, lineBytes: sizes.lineMb * 1e6 };
  return {
    small: kept<History>(join(folder, "small"), small, (home) => writeHistory(home, small)),
    large: kept<History>(join(folder, "large"), large, (home) => writeHistory(home, large)),
    chats: kept<Chats>(join(folder, "chats"), { seed, CHAT_MB }, (home) => writeChats(home, seed)),
    opencode: () => ({
      small: openCodeOf(join(folder, "opencode-small"), seed, sizes.opencodeMb / SCALE),
      large: openCodeOf(join(folder, "opencode-large"), seed, sizes.opencodeMb),
    }),
    big: kept<Bench["big"]>(join(folder, "big"), big, (home) => ({ home, session: writeBigHistory(home, big) })),
  };
}

/** Two sessions a megabyte, and a tenth of all parts in one of them, at most 40,000. */
function openCodeOf(home: string, seed: number, mb: number): OpenCodeHistory {
  const plan = { seed, sessions: Math.ceil(mb * 2), bytes: mb * 1e6, longParts: Math.min(40_000, Math.ceil(mb * 40)) };
  return kept<OpenCodeHistory>(home, plan, () => writeOpenCodeHistory(home, plan));
}

/** Writes one session of `mb` megabytes without subagents; `hidden` is the share of never-shown records. */
export function writeOne(home: string, seed: number, mb: number, hidden: number = USUAL.hidden): WrittenSession {
  const plan = { ...USUAL, seed, hidden, sessions: 1, bytes: mb * 1e6, projects: 1, agents: 0, spread: 0 };
  const [session] = writeHistory(home, plan).sessions;
  if (session === undefined) throw new Error("no session was written");
  return session;
}

function writeChats(home: string, seed: number): Chats {
  return {
    home,
    small: writeOne(home, seed + 100, CHAT_MB.small),
    large: writeOne(home, seed + 101, CHAT_MB.large),
    denseSmall: writeOne(home, seed + 102, CHAT_MB.small, 0),
    denseLarge: writeOne(home, seed + 103, CHAT_MB.large, 0),
  };
}

function kept<Made>(home: string, plan: object, make: (home: string) => Made): Made {
  const note = join(home, "made.json");
  const wanted = JSON.stringify({ ...plan, home, GENERATOR });
  if (existsSync(note)) {
    const { plan: earlier, made } = JSON.parse(readFileSync(note, "utf8"));
    if (earlier === wanted) return made;
    for (const name of [".claude", ".local"]) rmSync(join(home, name), { recursive: true, force: true });
  }
  mkdirSync(home, { recursive: true });
  const made = make(home);
  writeFileSync(note, JSON.stringify({ plan: wanted, made }));
  return made;
}
