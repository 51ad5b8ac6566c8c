import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { Clock, EpochMs } from "../../../src/platform/clock.ts";
import { environmentFrom } from "../../../src/platform/environment.ts";
import { createWatcher } from "../../../src/platform/watch.ts";
import type { FindHolders } from "../../../src/stores/opencode/holders.ts";
import { OpenCodeStore } from "../../../src/stores/opencode/store.ts";
import type { Budget, ChildEntry, SessionRef, Store } from "../../../src/stores/store.ts";
import { type Cursor, START } from "../../../src/transcript/cursor.ts";
import type { Entry } from "../../../src/transcript/entry.ts";
import { type Item, toItems } from "../../../src/transcript/item.ts";
import { PAGE_BYTES, PAGE_PARTS } from "../../../src/transcript/limits.ts";
import { requireSessionId } from "../../../src/transcript/names.ts";

/** Where the fixtures lie. */
export const FIXTURES = fileURLToPath(new URL("../../../fixtures/opencode", import.meta.url));

/** The budget that the server gives a page. */
export const PAGE: Budget = { bytes: PAGE_BYTES, parts: PAGE_PARTS };

/** A time long after every fixture, so that everything is settled. */
export const LATER: Clock = { now: () => Date.parse("2030-01-01T00:00:00Z") as EpochMs };

/** Rows by table; what is no text, number or null is written as JSON. */
export type Rows = { readonly [table: string]: readonly { readonly [column: string]: unknown }[] };

/** A folder of the test's own, removed afterwards. */
export function temporaryFolder(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "opencode-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The folder of OpenCode's data in a home, made when it is not there. */
export function dataFolder(home: string): string {
  const folder = join(home, ".local", "share", "opencode");
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** The statements that make the tables of a version. */
export function schemaOf(version: string): string {
  return readFileSync(join(FIXTURES, `schema-${version}.sql`), "utf8");
}

/** The rows of a fixture. */
export function rowsOf(version: string): Rows {
  return JSON.parse(readFileSync(join(FIXTURES, `${version}.json`), "utf8"));
}

/** Makes a database with a write-ahead log, as the CLI does, and leaves it closed. */
export function makeDatabase(path: string, schema: string, rows: Rows): void {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA foreign_keys = OFF; ${schema}`);
  insert(database, rows);
  database.close();
}

/** Changes a database that nobody else has open. */
export function change(path: string, use: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA foreign_keys = OFF");
  use(database);
  database.close();
}

/** Writes rows; columns that must not be null get a value of their own. */
export function insert(database: DatabaseSync, rows: Rows): void {
  database.exec("BEGIN");
  for (const [table, all] of Object.entries(rows)) {
    const columns = new Set(
      database
        .prepare("SELECT name FROM pragma_table_info(?)")
        .all(table)
        .map(({ name }) => name),
    );
    for (const row of all) {
      const full: { readonly [column: string]: unknown } = { ...defaultsOf(table, columns), ...row };
      const names = Object.keys(full);
      const places = names.map(() => "?").join(", ");
      const statement = database.prepare(`INSERT INTO \`${table}\` (${names.join(", ")}) VALUES (${places})`);
      statement.run(...names.map((name) => columnValue(full[name])));
    }
  }
  database.exec("COMMIT");
}

function defaultsOf(table: string, columns: ReadonlySet<unknown>): { readonly [column: string]: unknown } {
  if (table === "project") return columns.has("sandboxes") ? { time_created: 0, time_updated: 0, sandboxes: "[]" } : {};
  if (table !== "session") return {};
  const defaults = { project_id: "global", slug: "slug", directory: "/home/dev", title: "A title", version: "1.18.33" };
  return Object.fromEntries(Object.entries(defaults).filter(([name]) => columns.has(name)));
}

function columnValue(value: unknown): SQLInputValue {
  if (value === null || typeof value === "number" || typeof value === "bigint" || typeof value === "string")
    return value;
  return JSON.stringify(value);
}

/** A home with every fixture: both generations in a database of their own, and the old files. */
export function makeHome(home: string): void {
  const data = dataFolder(home);
  makeDatabase(join(data, "opencode.db"), schemaOf("1.18.33"), rowsOf("1.18.33"));
  makeDatabase(join(data, "opencode-next.db"), schemaOf("2.0"), rowsOf("2.0"));
  makeFiles(join(data, "storage"));
}

/** The tree of JSON files of 1.1. */
export function makeFiles(storage: string): void {
  const files: { readonly [path: string]: unknown } = JSON.parse(readFileSync(join(FIXTURES, "1.1.json"), "utf8"));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(storage, path)), { recursive: true });
    writeFileSync(join(storage, path), typeof content === "string" ? content : JSON.stringify(content));
  }
}

/** A store that has seen nothing; nobody holds its databases open unless it is said. */
export function openStore(
  home: string,
  clock: Clock = LATER,
  more: {
    readonly findHolders?: FindHolders;
    readonly variables?: { readonly [name: string]: string };
    readonly extraRoots?: readonly string[];
  } = {},
): OpenCodeStore {
  return new OpenCodeStore({
    environment: environmentFrom({ home, variables: more.variables ?? {} }),
    clock,
    watcher: createWatcher(),
    extraRoots: more.extraRoots ?? [],
    findHolders: more.findHolders ?? (async () => []),
  });
}

/** The session `id`, which must be there. */
export async function refOf(store: Store, id: string): Promise<SessionRef> {
  const ref = await store.find(requireSessionId(id));
  if (ref === undefined) throw new Error(`no session ${id}`);
  return ref;
}

/** Everything from `from` on, page by page, and where it ends. */
export async function readOn(
  store: Store,
  ref: SessionRef,
  from: Cursor = START,
  budget: Budget = PAGE,
): Promise<{ readonly entries: readonly Entry[]; readonly next: Cursor }> {
  const entries: Entry[] = [];
  for (let cursor = from; ; ) {
    const page = await store.entries(ref, cursor, budget);
    entries.push(...page.entries);
    if (page.next === cursor) return { entries, next: cursor };
    cursor = page.next;
  }
}

/** What a chat shows, told shortly: the kind (or the tool), and the text or the summary. */
export function told(entries: readonly Entry[]): string[] {
  return toItems(entries).map((item) => {
    const name = item.kind === "tool" ? item.tool : item.kind;
    const text = item.subagent?.id ?? [item.summary, item.text].filter((part) => part !== undefined).join(" → ");
    return `${name}: ${text}${item.error ? " !" : ""}`;
  });
}

/** What a session shows: its chat, its subagents, and their chats. */
export interface Shown {
  readonly chat: readonly Item[];
  readonly subagents: readonly ChildEntry[];
  readonly chats: { readonly [child: string]: readonly Item[] };
}

/** Everything that a session shows. */
export async function shown(store: Store, id: string): Promise<Shown> {
  const ref = await refOf(store, id);
  const { children } = await store.children(ref);
  const chats: Record<string, readonly Item[]> = {};
  for (const child of children) {
    const there = await store.child(ref, child.id);
    if (there !== undefined) chats[child.id] = toItems((await readOn(store, there)).entries);
  }
  return { chat: toItems((await readOn(store, ref)).entries), subagents: children, chats };
}

/** JSON with one item a line. */
export function readableJson({ chat, subagents, chats }: Shown): string {
  const lines = (values: readonly unknown[], indent: string): string =>
    values.length === 0
      ? "[]"
      : `[\n${values.map((value) => `${indent}  ${JSON.stringify(value)}`).join(",\n")}\n${indent}]`;
  const below = Object.entries(chats).map(([id, items]) => `    ${JSON.stringify(id)}: ${lines(items, "    ")}`);
  const all = below.length === 0 ? "{}" : `{\n${below.join(",\n")}\n  }`;
  return `{\n  "chat": ${lines(chat, "  ")},\n  "subagents": ${lines(subagents, "  ")},\n  "chats": ${all}\n}\n`;
}
