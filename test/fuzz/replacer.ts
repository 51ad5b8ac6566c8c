// A program that writes the chats of agents that keep files, and again and again puts another file in the place of each: by
// renaming, by cutting it to nothing and writing on, by deleting it and coming back. Its argument is a `ReplacerOrder` as
// JSON. It stops by itself, when the last file is written.

import { closeSync, copyFileSync, ftruncateSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { filePath, headOf, type LineAgent, lineOf } from "./tapes.ts";

/** How a file gives way to the next. */
export type Replacement = "rename" | "truncate" | "delete";

/** What is to be written. */
export interface ReplacerOrder {
  readonly home: string;
  readonly agents: readonly LineAgent[];
  /** Records of each file, the first one's first. */
  readonly files: readonly number[];
  /** How each file is replaced by the next; one fewer. */
  readonly replacements: readonly Replacement[];
  /** Records a second of each agent. */
  readonly rate: number;
  /** Whether no line of a file begins where one of another file does; else most do. */
  readonly apart: boolean;
}

const TICK_MS = 10;
/** How long a deleted file is gone. */
const GONE_MS = 400;
/** Records that a file is begun with. */
const FIRST_RECORDS = 20;

/** The bytes of every line are a multiple of this, save those of a file's first line. */
const LINE_BYTES = 64;
const APART_BYTES = 8;

const { home, agents, files, replacements, rate, apart } = JSON.parse(process.argv[2] ?? "") as ReplacerOrder;
await Promise.all(agents.map(writeAll));

async function writeAll(agent: LineAgent): Promise<void> {
  const path = filePath(home, agent);
  mkdirSync(dirname(path), { recursive: true });
  let file = openSync(path, "a");
  for (const [generation, records] of files.entries()) {
    if (generation > 0) file = await replace(agent, path, file, generation);
    const begun = performance.now();
    for (let n = generation === 0 ? 0 : FIRST_RECORDS; n < records; ) {
      const due = Math.min(records, FIRST_RECORDS + Math.floor(((performance.now() - begun) / 1000) * rate));
      append(file, lines(agent, generation, n, due));
      n = due;
      await sleep(TICK_MS);
    }
    // Every other file is followed by the next at once, while readers are still behind.
    if (generation % 2 === 1) await sleep(GONE_MS);
  }
  closeSync(file);
}

async function replace(agent: LineAgent, path: string, old: number, generation: number): Promise<number> {
  const begin = lines(agent, generation, 0, FIRST_RECORDS);
  const kind = replacements[generation - 1];
  if (kind === "truncate") {
    copyFileSync(path, join(home, `${agent}-${generation}.old`));
    ftruncateSync(old, 0);
    append(old, begin);
    return old;
  }
  closeSync(old);
  if (kind === "delete") {
    rmSync(path);
    await sleep(GONE_MS);
    const file = openSync(path, "a");
    append(file, begin);
    return file;
  }
  const file = openSync(`${path}.new`, "a");
  append(file, begin);
  renameSync(`${path}.new`, path);
  return file;
}

function lines(agent: LineAgent, generation: number, from: number, to: number): string {
  const records = Array.from({ length: to - from }, (_, index) => lineOf(agent, generation, from + index));
  const head = from === 0 ? headOf(agent, generation) : "";
  const [first = "", ...rest] = head === "" ? records : [head, ...records];
  if (!apart) return first + rest.join("");
  return padded(first, from === 0 ? generation * APART_BYTES : 0) + rest.map((line) => padded(line, 0)).join("");
}

function padded(line: string, more: number): string {
  const short = LINE_BYTES - (Buffer.byteLength(line) % LINE_BYTES);
  return `${line.slice(0, -1)}${" ".repeat(short + more)}\n`;
}

/** Writes in two pieces, so that a reader may meet half a line, or half a character. */
function append(file: number, text: string): void {
  const bytes = Buffer.from(text);
  const half = Math.floor(bytes.length / 2);
  writeSync(file, bytes, 0, half);
  writeSync(file, bytes, half);
}
