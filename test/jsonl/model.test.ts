import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, realpathSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { FILE_START, type JsonlCursor } from "../../src/jsonl/cursor.ts";
import { bytesSource } from "../../src/jsonl/source.ts";
import { withFile } from "../../src/platform/files.ts";
import { type LineText, linesIn, readForward } from "./lines.ts";

/** A page small enough that records of several pages stay small. */
const PAGE_BYTES = 64;
const NEWLINE = 10;

type Step =
  | { readonly do: "write"; readonly bytes: Buffer }
  | { readonly do: "truncate"; readonly to: number }
  | { readonly do: "replace"; readonly bytes: Buffer; readonly sameInode: boolean }
  | { readonly do: "delete" | "read" | "pause" };

/** What has the file: memory, or a disk. */
interface Disk {
  write(bytes: Buffer): void;
  truncate(to: number): void;
  replace(bytes: Buffer, sameInode: boolean): void;
  remove(): void;
  /** Everything from `cursor` on. */
  read(cursor: JsonlCursor): ReturnType<typeof readForward>;
}

/** What a reader has to be told, in the simplest words: where it stands, and what the whole file holds. */
class Model {
  bytes: Buffer | undefined;
  /** Where the first line starts that was not told yet. */
  #told = 0;
  /** How far into an oversized line it has got. */
  #discarded: number | undefined;

  expected(): { lines: LineText[]; reset: boolean } {
    const bytes = this.bytes ?? Buffer.alloc(0);
    const reset = !this.#fits(bytes);
    if (reset) this.restart();
    if (this.#discarded !== undefined && !bytes.includes(NEWLINE, this.#discarded)) {
      this.#discarded = bytes.length;
      return { lines: [], reset };
    }
    const start = this.#discarded === undefined ? this.#told : lineStart(bytes, this.#discarded);
    const lines = linesIn(bytes, PAGE_BYTES, start);
    this.#told = lines.length === 0 ? start : bytes.lastIndexOf(NEWLINE) + 1;
    this.#discarded = bytes.length - this.#told >= PAGE_BYTES ? bytes.length : undefined;
    return { lines, reset };
  }

  restart(): void {
    this.#told = 0;
    this.#discarded = undefined;
  }

  #fits(bytes: Buffer): boolean {
    const at = this.#discarded ?? this.#told;
    if (at > bytes.length) return false;
    const behindNewline = at === 0 || bytes[at - 1] === NEWLINE;
    if (this.#discarded === undefined) return behindNewline;
    const newline = bytes.indexOf(NEWLINE, at);
    return !behindNewline && (newline < 0 || newline + 1 - lineStart(bytes, at) > PAGE_BYTES);
  }
}

function lineStart(bytes: Buffer, at: number): number {
  return bytes.subarray(0, at).lastIndexOf(NEWLINE) + 1;
}

/** Runs the steps on both and compares what each read tells. */
async function run(steps: readonly Step[], disk: Disk): Promise<void> {
  const model = new Model();
  let cursor = FILE_START;
  const read = async (): Promise<number> => {
    if (model.bytes === undefined) return 0;
    const seen = await disk.read(cursor);
    cursor = seen.next;
    const { lines, reset } = model.expected();
    assert.deepEqual({ lines: seen.lines, reset: seen.reset }, { lines, reset });
    return lines.length;
  };
  for (const step of [...steps, { do: "read" } as const]) {
    switch (step.do) {
      case "write":
        disk.write(step.bytes);
        model.bytes = Buffer.concat([model.bytes ?? Buffer.alloc(0), step.bytes]);
        break;
      case "truncate":
        if (model.bytes === undefined) break;
        disk.truncate(Math.min(step.to, model.bytes.length));
        model.bytes = model.bytes.subarray(0, step.to);
        break;
      case "replace":
        disk.replace(step.bytes, step.sameInode);
        model.bytes = step.bytes;
        // Another inode is seen by whoever opens the file, and read from its start.
        if (!step.sameInode) {
          cursor = FILE_START;
          model.restart();
        }
        break;
      case "delete":
        if (model.bytes !== undefined) disk.remove();
        model.bytes = undefined;
        break;
      case "read":
        await read();
        break;
      case "pause":
        await read();
        for (let n = 0; n < 3; n++) assert.equal(await read(), 0, "nothing is told twice");
    }
  }
}

/** Numbers from 0 to `below`, always the same for a seed (Mulberry32). */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * below);
  };
}

const CHARACTERS = ["a", "é", "語", "😀", "\u2028", "\0", "\\n", "{", '"', "\r"];

function randomRecord(below: (n: number) => number): Buffer {
  const size = [0, below(8), below(60), 55 + below(12), 60 + below(200)][below(5)] ?? 0;
  let text = "{";
  while (text.length < size) text += CHARACTERS[below(CHARACTERS.length)];
  return Buffer.from(`${text}}${below(6) === 0 ? "\r\n" : "\n"}`);
}

/** Some records, at times cut anywhere: within a line, a character, or a CRLF. */
function randomBytes(below: (n: number) => number, records: number): Buffer {
  const bytes = Buffer.concat(Array.from({ length: records }, () => randomRecord(below)));
  return below(3) === 0 ? bytes.subarray(0, below(bytes.length + 1)) : bytes;
}

/** A writer that writes half a record often writes the rest of it next. */
function randomSteps(below: (n: number) => number): Step[] {
  const steps: Step[] = [];
  for (let left = 4 + below(16); left > 0; left--) {
    const which = below(20);
    if (which < 7) steps.push({ do: "write", bytes: randomBytes(below, 1 + below(4)) });
    else if (which < 9) {
      const record = randomRecord(below);
      const cut = below(record.length);
      steps.push({ do: "write", bytes: record.subarray(0, cut) }, { do: "read" });
      steps.push({ do: "write", bytes: record.subarray(cut) });
    } else if (which < 15) steps.push({ do: "read" });
    else if (which < 16) steps.push({ do: "pause" });
    else if (which < 17) steps.push({ do: "truncate", to: below(300) });
    else if (which < 19) steps.push({ do: "replace", bytes: randomBytes(below, below(6)), sameInode: below(2) === 0 });
    else steps.push({ do: "delete" });
  }
  return steps;
}

function memory(): Disk {
  let bytes = Buffer.alloc(0);
  return {
    write: (more) => {
      bytes = Buffer.concat([bytes, more]);
    },
    truncate: (to) => {
      bytes = bytes.subarray(0, to);
    },
    replace: (other) => {
      bytes = Buffer.from(other);
    },
    remove: () => {
      bytes = Buffer.alloc(0);
    },
    read: (cursor) => readForward(bytesSource(bytes), PAGE_BYTES, cursor),
  };
}

function fileIn(folder: string): Disk {
  const path = join(folder, "session.jsonl");
  return {
    write: (bytes) => appendFileSync(path, bytes),
    truncate: (to) => truncateSync(path, to),
    replace: (bytes, sameInode) => {
      writeFileSync(sameInode ? path : `${path}.new`, bytes);
      if (!sameInode) renameSync(`${path}.new`, path);
    },
    remove: () => rmSync(path),
    read: (cursor) => withFile(folder, path, (file) => readForward(file, PAGE_BYTES, cursor)),
  };
}

/** Runs `count` random sequences; the seed that is printed repeats them. */
async function runAll(count: number, seed: number, disk: () => Disk): Promise<void> {
  for (let n = 0; n < count; n++) {
    const steps = randomSteps(random(seed + n));
    try {
      await run(steps, disk());
    } catch (error) {
      throw new Error(`the sequence of seed ${seed + n} went wrong: ${JSON.stringify(steps)}`, { cause: error });
    }
  }
}

const seed = Number(process.env.JSONL_SEED ?? Date.now() % 1_000_000_000);

test("10,000 random histories of a file are told as the model tells them", async (t) => {
  t.diagnostic(`JSONL_SEED=${seed}`);
  await runAll(10_000, seed, memory);
});

test("random histories of a file on a disk are told as the model tells them", async (t) => {
  t.diagnostic(`JSONL_SEED=${seed}`);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "jsonl-")));
  t.after(() => rmSync(folder, { recursive: true }));
  await runAll(200, seed, () => {
    rmSync(join(folder, "session.jsonl"), { force: true });
    return fileIn(folder);
  });
});
