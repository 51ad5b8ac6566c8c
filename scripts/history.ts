// Makes a home folder with a Claude Code history as large as wanted; the same seed gives the same bytes.
//
//   node scripts/history.ts FOLDER [--seed 1] [--sessions 200] [--mb 100] [--projects 12] [--big-mb 0] [--line-mb 80]

import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Random } from "./history/random.ts";
import type { Speaker, Texts } from "./history/records.ts";
import {
  type Mix,
  type WrittenBigSession,
  type WrittenSession,
  writeBigSession,
  writeSession,
} from "./history/session.ts";
import { TextPool } from "./history/texts.ts";

export type { WrittenBigSession, WrittenSession } from "./history/session.ts";

/** What a history is to be like. Shares are of the bytes, from 0 to 1. */
export interface HistoryPlan extends Mix {
  readonly seed: number;
  readonly sessions: number;
  /** Of all transcripts, those of subagents too. */
  readonly bytes: number;
  readonly projects: number;
  /** Share of the bytes that subagents wrote. */
  readonly agents: number;
  /** How far sessions differ in size: 0 all alike, 1.6 the largest some hundred times the median. */
  readonly spread: number;
}

/** A history that was written. */
export interface History {
  /** The home folder; the history is in its `.claude`. */
  readonly home: string;
  /** Largest first. */
  readonly sessions: readonly WrittenSession[];
  readonly bytes: number;
}

/** What real histories look like: a third of the bytes are never shown, as much are tool results. */
export const USUAL: HistoryPlan = {
  seed: 1,
  sessions: 200,
  bytes: 100_000_000,
  projects: 12,
  agents: 0.25,
  results: 0.35,
  hidden: 0.35,
  spread: 1.6,
};

const FIRST_DAY = Date.UTC(2026, 0, 5, 8);
const SPACING_MS = 31 * 60_000;
const POOL_BYTES = 1_000_000;

/** Writes the history of `plan` into the home folder `home`. */
export function writeHistory(home: string, plan: HistoryPlan): History {
  const random = new Random(plan.seed);
  const texts = textsOf(plan.seed);
  const prompts: string[] = [];
  const sessions = sizesOf(plan, random).map((bytes, index) => {
    const given = { random: new Random(plan.seed, 10 + index), texts, mix: plan, agentShare: plan.agents };
    const speaker = speakerOf(given.random, random.between(0, plan.projects - 1), index);
    const session = writeSession(projectFolder(home, speaker.cwd), speaker, bytes, given);
    prompts.push(promptNote(speaker));
    return session;
  });
  writeFileSync(join(home, ".claude", "history.jsonl"), prompts.join(""));
  const agentBytes = sessions.flatMap(({ agents }) => agents).reduce((sum, { bytes }) => sum + bytes, 0);
  return {
    home,
    sessions: sessions.sort((a, b) => b.bytes - a.bytes),
    bytes: sessions.reduce((sum, { bytes }) => sum + bytes, agentBytes),
  };
}

/** Writes one session of about `bytes` bytes, with a line of exactly `lineBytes` in its middle, into `home`. */
export function writeBigHistory(
  home: string,
  given: { readonly seed: number; readonly bytes: number; readonly lineBytes: number } & Mix,
): WrittenBigSession {
  const random = new Random(given.seed, 3);
  const speaker = speakerOf(random, 0, 0);
  const tools = { random, texts: textsOf(given.seed), mix: given };
  return writeBigSession(projectFolder(home, speaker.cwd), speaker, given.bytes, given.lineBytes, tools);
}

function textsOf(seed: number): Texts {
  return { prose: TextPool.prose(seed, POOL_BYTES), code: TextPool.code(seed, POOL_BYTES) };
}

/** Long-tailed sizes that together are as many bytes as planned. */
function sizesOf(plan: HistoryPlan, random: Random): number[] {
  const weights = Array.from({ length: plan.sessions }, () => random.longTail(1, plan.spread));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => (plan.bytes * weight) / sum);
}

function speakerOf(random: Random, project: number, index: number): Speaker {
  return {
    session: random.uuid(),
    cwd: `/home/dev/work/project-${project}`,
    branch: random.pick(["main", "main", "fix-reader", "try-index"]),
    startedAt: FIRST_DAY + index * SPACING_MS,
  };
}

function projectFolder(home: string, cwd: string): string {
  return join(home, ".claude", "projects", cwd.replaceAll(/[^A-Za-z0-9]/g, "-"));
}

/** A line of the history of prompts that the CLI keeps beside the transcripts. */
function promptNote(speaker: Speaker): string {
  const { session: sessionId, cwd: project, startedAt: timestamp } = speaker;
  return `${JSON.stringify({ display: "go", pastedContents: {}, timestamp, project, sessionId })}\n`;
}

if (import.meta.main) {
  const number = { type: "string" } as const;
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { seed: number, sessions: number, mb: number, projects: number, "big-mb": number, "line-mb": number },
  });
  const [folder] = positionals;
  if (folder === undefined) throw new Error("name the folder that is to be the home");
  const home = resolve(folder);
  mkdirSync(home, { recursive: true });
  const asked = (text: string | undefined, otherwise: number): number =>
    text === undefined ? otherwise : Number(text);
  const seed = asked(values.seed, USUAL.seed);
  const history = writeHistory(home, {
    ...USUAL,
    seed,
    sessions: asked(values.sessions, USUAL.sessions),
    bytes: asked(values.mb, USUAL.bytes / 1e6) * 1e6,
    projects: asked(values.projects, USUAL.projects),
  });
  console.log(`${history.sessions.length} sessions, ${(history.bytes / 1e6).toFixed(1)} MB in ${home}`);
  const bigBytes = asked(values["big-mb"], 0) * 1e6;
  if (bigBytes > 0) {
    const big = writeBigHistory(home, {
      ...USUAL,
      seed,
      bytes: bigBytes,
      lineBytes: asked(values["line-mb"], 80) * 1e6,
    });
    console.log(
      `${big.id}: ${(big.bytes / 1e6).toFixed(1)} MB, its long line from byte ${big.lineStart} to ${big.lineEnd}`,
    );
  }
}
