// A program that writes the chats of several agents at once, so many records a second of each, and says when it is done. Its
// argument is a `WriterOrder` as JSON. It stops by itself: after its records, or after twice the time that they should take.

import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Agent, filePath, headOf, LINE_AGENTS, type LineAgent, lineOf, openRows } from "./tapes.ts";

/** What is to be written. */
export interface WriterOrder {
  readonly home: string;
  readonly agents: readonly Agent[];
  readonly seconds: number;
  /** Records a second of each agent. */
  readonly rate: number;
}

/** What was written; what the program prints. */
export interface Written {
  /** Records of each agent, numbered from 0. */
  readonly records: number;
  readonly ms: number;
}

const TICK_MS = 5;

/** One chat that is written on. */
interface Tape {
  /** Writes the records from `from` to before `to`; the last of them may be written only in part until the next time. */
  write(from: number, to: number, isLast: boolean): void;
  close(): void;
}

const { home, agents, seconds, rate } = JSON.parse(process.argv[2] ?? "") as WriterOrder;
const tapes = agents.map(tapeOf);
const total = seconds * rate;
const begun = performance.now();
let records = 0;
while (records < total && performance.now() - begun < seconds * 2_000) {
  const due = Math.min(total, Math.floor(((performance.now() - begun) / 1000) * rate));
  for (const tape of tapes) tape.write(records, due, due === total);
  records = due;
  await sleep(TICK_MS);
}
for (const tape of tapes) tape.close();
process.stdout.write(`${JSON.stringify({ records, ms: Math.round(performance.now() - begun) } satisfies Written)}\n`);

function tapeOf(agent: Agent): Tape {
  if (isLineAgent(agent)) return lineTape(agent);
  const rows = openRows(home, agent);
  return {
    write(from, to) {
      for (let n = from; n < to; n++) rows.write(n);
    },
    close: () => rows.close(),
  };
}

function isLineAgent(agent: Agent): agent is LineAgent {
  return (LINE_AGENTS as readonly Agent[]).includes(agent);
}

/** Lines, the last of which is often torn: in the middle of a line, and of a character. */
function lineTape(agent: LineAgent): Tape {
  const path = filePath(home, agent);
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, "a");
  let held = Buffer.from(headOf(agent, 0));
  return {
    write(from, to, isLast) {
      const lines = Array.from({ length: to - from }, (_, index) => lineOf(agent, 0, from + index));
      const bytes = Buffer.concat([held, Buffer.from(lines.join(""))]);
      const kept = isLast ? 0 : Math.min(bytes.length, (from * 13) % 90);
      writeSync(file, bytes, 0, bytes.length - kept);
      held = bytes.subarray(bytes.length - kept);
    },
    close() {
      writeSync(file, held);
      closeSync(file);
    },
  };
}
