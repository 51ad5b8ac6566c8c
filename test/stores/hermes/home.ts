import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type { TestContext } from "node:test";
import type { Clock, EpochMs } from "../../../src/platform/clock.ts";
import { environmentFrom } from "../../../src/platform/environment.ts";
import { createWatcher } from "../../../src/platform/watch.ts";
import type { ListingWork } from "../../../src/stores/hermes/catalogue.ts";
import { HermesStore } from "../../../src/stores/hermes/store.ts";
import type { SessionRef } from "../../../src/stores/store.ts";
import { type Cursor, START } from "../../../src/transcript/cursor.ts";
import type { Entry } from "../../../src/transcript/entry.ts";
import { type Item, toItems } from "../../../src/transcript/item.ts";
import { PAGE_BYTES, PAGE_PARTS } from "../../../src/transcript/limits.ts";
import { sid } from "../../support/fake-store.ts";

/** What every page may consume. */
export const BUDGET = { bytes: PAGE_BYTES, parts: PAGE_PARTS };

/** 3 February 2026, 10:00 UTC: seconds, as Hermes keeps them. */
export const TEN = Date.UTC(2026, 1, 3, 10) / 1000;

/** The tables as of schema 30, as far as they bear on a reader. */
export const NEWEST = `
  PRAGMA journal_mode = WAL;
  CREATE TABLE schema_version (version INTEGER NOT NULL);
  INSERT INTO schema_version VALUES (30);
  CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, model_config TEXT, system_prompt TEXT,
    parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT, message_count INTEGER DEFAULT 0,
    input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0, cache_read_tokens INTEGER DEFAULT 0,
    cache_write_tokens INTEGER DEFAULT 0, reasoning_tokens INTEGER DEFAULT 0, cwd TEXT, git_branch TEXT,
    estimated_cost_usd REAL, actual_cost_usd REAL, cost_status TEXT, title TEXT, last_activity_at REAL);
  CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT,
    tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, reasoning TEXT, reasoning_content TEXT,
    reasoning_details TEXT, codex_reasoning_items TEXT, codex_message_items TEXT, _compressed_summary INTEGER NOT NULL DEFAULT 0,
    active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0, display_kind TEXT, display_identity BLOB,
    display_order INTEGER);
  CREATE INDEX messages_by_session ON messages(session_id, timestamp);`;

/** The tables as the first versions made them. */
export const OLDEST = `
  CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, parent_session_id TEXT,
    started_at REAL NOT NULL, ended_at REAL, end_reason TEXT, message_count INTEGER DEFAULT 0);
  CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT,
    tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL);`;

/** Fields of a row by column. */
export type Fields = { readonly [column: string]: SQLInputValue };

/** A home of Hermes in a temporary folder, and a store over it. */
export class Home {
  readonly path: string;
  readonly work: ListingWork = { reads: 0 };
  readonly store: HermesStore;
  readonly clock: Clock & { at: number } = { at: (TEN + 86_400) * 1000, now: () => this.clock.at as EpochMs };

  constructor(t: TestContext, options: { extraRoots?: readonly string[]; schema?: string } = {}) {
    this.path = realpathSync(mkdtempSync(join(tmpdir(), "hermes-")));
    t.after(() => rmSync(this.path, { recursive: true, force: true }));
    this.store = new HermesStore({
      environment: environmentFrom({ home: this.path }),
      clock: this.clock,
      watcher: createWatcher(),
      extraRoots: options.extraRoots ?? [],
      work: this.work,
    });
    if (options.schema !== "") this.write((database) => database.exec(options.schema ?? NEWEST));
  }

  get database(): string {
    return join(this.path, ".hermes", "state.db");
  }

  /** Writes as Hermes would, and closes. */
  write(use: (database: DatabaseSync) => void, path = this.database): void {
    writeDatabase(path, use);
  }

  /** Adds a session. */
  session(id: string, fields: Fields = {}, path = this.database): void {
    this.write((database) => insert(database, "sessions", { id, source: "cli", started_at: TEN, ...fields }), path);
  }

  /** Adds messages, each a second after the one before, the first ten o'clock plus `from` seconds. */
  say(session: string, messages: readonly Fields[], from = 0, path = this.database): void {
    this.write((database) => {
      for (const [index, message] of messages.entries()) {
        insert(database, "messages", { session_id: session, role: "user", timestamp: TEN + from + index, ...message });
      }
    }, path);
  }

  async ref(id: string): Promise<SessionRef> {
    const ref = await this.store.find(sid(id));
    if (ref === undefined) throw new Error(`${id} is not found`);
    return ref;
  }

  async entries(id: string): Promise<readonly Entry[]> {
    return (await this.store.entries(await this.ref(id), START, BUDGET)).entries;
  }

  /** What the chat shows. */
  async shown(id: string): Promise<readonly Partial<Item>[]> {
    return toItems(await this.entries(id)).map(({ at: _at, ...item }) => item);
  }

  /** The texts that the chat shows. */
  async texts(id: string): Promise<readonly (string | undefined)[]> {
    return (await this.shown(id)).map(({ text, tool, summary }) => text ?? (summary === undefined ? tool : summary));
  }

  /** All the entries from `from` on, read in pages of so many rows, and where they end. */
  async read(id: string, parts: number, from: Cursor = START): Promise<{ entries: Entry[]; next: Cursor }> {
    const ref = await this.ref(id);
    const entries: Entry[] = [];
    for (let next = from; ; ) {
      const page = await this.store.entries(ref, next, { ...BUDGET, parts });
      entries.push(...page.entries);
      if (page.next === next) return { entries, next };
      next = page.next;
    }
  }
}

/** Writes into the database at `path`, and closes it. */
export function writeDatabase(path: string, use: (database: DatabaseSync) => void): void {
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  try {
    use(database);
  } finally {
    database.close();
  }
}

/** Adds a row. */
export function insert(database: DatabaseSync, table: string, fields: Fields): void {
  const names = Object.keys(fields);
  const marks = names.map(() => "?").join(", ");
  database.prepare(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${marks})`).run(...Object.values(fields));
}
