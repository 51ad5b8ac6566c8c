import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { Random } from "./random.ts";
import { TextPool } from "./texts.ts";

/** What a database of OpenCode is to be like. */
export interface OpenCodePlan {
  readonly seed: number;
  readonly sessions: number;
  /** Of all parts' data. */
  readonly bytes: number;
  /** Parts of one session that is far longer than the others. */
  readonly longParts: number;
}

/** A session that was written. */
export interface WrittenOpenCodeSession {
  readonly id: string;
  readonly parts: number;
}

/** A database that was written. */
export interface OpenCodeHistory {
  /** The home folder. */
  readonly home: string;
  /** The database's file. */
  readonly path: string;
  /** The longest first. */
  readonly sessions: readonly WrittenOpenCodeSession[];
  readonly parts: number;
  /** Of the file. */
  readonly bytes: number;
}

const SCHEMA = fileURLToPath(new URL("../../fixtures/opencode/schema-1.18.33.sql", import.meta.url));
const FIRST_DAY = Date.UTC(2026, 0, 5, 8);
const POOL_BYTES = 1_000_000;
/** Bytes of a part's data, about. */
const PART_BYTES = 2_500;
/** Sessions that are written at the same time, so that the rows of one lie among those of others. */
const LANES = 4;
const ROWS_A_COMMIT = 20_000;

/** Writes a database as OpenCode 1.18 does into the home folder `home`; the same plan gives the same rows. */
export function writeOpenCodeHistory(home: string, plan: OpenCodePlan): OpenCodeHistory {
  const folder = join(home, ".local", "share", "opencode");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "opencode.db");
  const writer = new Writer(path, plan.seed);
  const all = Math.max(plan.longParts, Math.round(plan.bytes / PART_BYTES));
  const random = new Random(plan.seed, 5);
  const weights = Array.from({ length: plan.sessions - 1 }, () => random.longTail(1, 1.2));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const long = new Lane(writer, 0, plan.longParts);
  const waiting = weights.map((weight, index) => ({
    index: index + 1,
    parts: ((all - plan.longParts) * weight) / sum,
  }));
  const lanes: Lane[] = [];
  const done: Lane[] = [];
  for (let next = 0; next < waiting.length || lanes.length > 0; ) {
    while (lanes.length < LANES && next < waiting.length) {
      const session = waiting[next++];
      if (session !== undefined) lanes.push(new Lane(writer, session.index, session.parts));
    }
    const lane = random.pick(lanes);
    lane.turn();
    // The long one comes along evenly, and ends last.
    while (long.parts < (plan.longParts * writer.parts) / all) long.turn();
    if (lane.isDone) done.push(...lanes.splice(lanes.indexOf(lane), 1));
  }
  while (!long.isDone) long.turn();
  const sessions = [long, ...done].map(({ id, parts }) => ({ id, parts })).sort((a, b) => b.parts - a.parts);
  writer.close();
  return { home, path, sessions, parts: writer.parts, bytes: statSync(path).size };
}

/** One session being written. */
class Lane {
  readonly id: string;
  parts = 0;
  readonly #writer: Writer;
  readonly #planned: number;

  constructor(writer: Writer, index: number, planned: number) {
    this.#writer = writer;
    this.#planned = planned;
    this.id = writer.session(index);
  }

  get isDone(): boolean {
    return this.parts >= this.#planned;
  }

  /** A prompt, and the steps that answer it, which stop when the session is as long as planned. */
  turn(): void {
    const writer = this.#writer;
    const { random } = writer;
    const prompt = writer.message(this.id, { role: "user", agent: "build", model: MODEL });
    this.#part(prompt, { type: "text", text: writer.prose(200) });
    const steps = random.between(1, 8);
    for (let step = 1; step <= steps && !this.isDone; step++) {
      const answer = writer.answer(this.id, prompt, step === steps);
      this.#part(answer, { type: "step-start", snapshot: random.hex(40) });
      if (random.fraction() < 0.4)
        this.#part(answer, { type: "reasoning", text: writer.prose(500), time: writer.span() });
      if (random.fraction() < 0.6) this.#part(answer, { type: "text", text: writer.prose(700), time: writer.span() });
      const calls = step === steps ? 0 : random.between(1, 3);
      for (let call = 0; call < calls; call++) this.#part(answer, writer.tool());
      this.#part(answer, { type: "step-finish", reason: "stop", cost: 0.01, tokens: TOKENS, snapshot: random.hex(40) });
    }
  }

  #part(message: string, data: object): void {
    this.parts++;
    this.#writer.part(this.id, message, data);
  }
}

const MODEL = { providerID: "anthropic", modelID: "claude-sonnet" };
const SESSION_MODEL = JSON.stringify({ id: MODEL.modelID, providerID: MODEL.providerID });
const TOKENS = { total: 1050, input: 700, output: 30, reasoning: 20, cache: { read: 300, write: 0 } };

/** Writes rows, one after another in time. */
class Writer {
  readonly random: Random;
  parts = 0;
  readonly #database: DatabaseSync;
  readonly #session: StatementSync;
  readonly #message: StatementSync;
  readonly #part: StatementSync;
  readonly #prose: TextPool;
  readonly #code: TextPool;
  #time = FIRST_DAY;
  #ids = 0;
  #pending = 0;

  constructor(path: string, seed: number) {
    this.random = new Random(seed, 6);
    this.#prose = TextPool.prose(seed, POOL_BYTES);
    this.#code = TextPool.code(seed, POOL_BYTES);
    this.#database = new DatabaseSync(path);
    this.#database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF");
    this.#database.exec(`${readFileSync(SCHEMA, "utf8")}; BEGIN`);
    this.#session = this.#database.prepare(
      `INSERT INTO session (id, project_id, slug, directory, title, version, model, time_created, time_updated)
       VALUES (?, 'global', ?, ?, ?, '1.18.33', ?, ?, ?)`,
    );
    this.#message = this.#database.prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?)");
    this.#part = this.#database.prepare("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)");
  }

  session(index: number): string {
    const id = `ses_${this.random.hex(12)}${String(index).padStart(14, "0")}`;
    const folder = `/home/dev/work/project-${index % 12}`;
    this.#session.run(id, `slug-${index}`, folder, `Work ${index}`, SESSION_MODEL, this.#time, this.#time);
    return id;
  }

  message(session: string, data: object): string {
    const id = this.#id("msg");
    const time = { created: this.#time };
    this.#message.run(id, session, this.#time, this.#time + 5, JSON.stringify({ ...data, time }));
    return id;
  }

  answer(session: string, parent: string, isLast: boolean): string {
    const said = { role: "assistant", parentID: parent, mode: "build", agent: "build", ...MODEL };
    const used = { path: { cwd: "/home/dev/work", root: "/home/dev/work" }, cost: 0.01, tokens: TOKENS };
    return this.message(session, { ...said, ...used, finish: isLast ? "stop" : "tool-calls" });
  }

  part(session: string, message: string, data: object): void {
    this.parts++;
    const id = this.#id("prt");
    this.#part.run(id, message, session, this.#time, this.#time + 2, JSON.stringify(data));
    if (++this.#pending < ROWS_A_COMMIT) return;
    this.#pending = 0;
    this.#database.exec("COMMIT; BEGIN");
  }

  tool(): object {
    const output = this.#text(this.#code, this.random.longTail(2_800, 1.2));
    const input = { command: "npm test", description: "Runs the tests" };
    const state = { status: "completed", input, output, title: "Runs the tests", metadata: { exit: 0 } };
    return {
      type: "tool",
      tool: "bash",
      callID: `call_${this.random.hex(12)}`,
      state: { ...state, time: this.span() },
    };
  }

  span(): object {
    return { start: this.#time, end: this.#time + 3 };
  }

  prose(median: number): string {
    return this.#text(this.#prose, this.random.longTail(median, 1));
  }

  close(): void {
    this.#database.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
    this.#database.close();
  }

  /** An id as OpenCode makes them: prefix, 12 hex digits of the time, 14 characters. */
  #id(prefix: string): string {
    this.#time += 7;
    this.#ids++;
    const digits = (BigInt(this.#time) * 4096n + BigInt(this.#ids % 4096)) & 0xffffffffffffn;
    return `${prefix}_${digits.toString(16).padStart(12, "0")}${String(this.#ids).padStart(14, "0")}`;
  }

  #text(pool: TextPool, bytes: number): string {
    const parts = pool.take(this.random, Math.min(300_000, Math.ceil(bytes)));
    return JSON.parse(`"${Buffer.concat(parts).toString()}"`);
  }
}
