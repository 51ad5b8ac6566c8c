import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";

/** Every agent, in the order in which a list tells those that were written at the same time. */
export const AGENTS = ["claude", "codex", "daemon", "hermes", "opencode"] as const;
export type Agent = (typeof AGENTS)[number];

/** A session to be written. */
export interface Told {
  readonly id: string;
  /** When it was written last, in ms; it was begun a minute before. */
  readonly at: number;
  readonly title: string;
  readonly cwd: string;
  /** The session that it is a subagent of, where the agent keeps such ones as sessions. */
  readonly parent?: string;
}

/** The folder that an agent keeps its sessions in by itself, in a person's home. */
export function ownRoot(home: string, agent: Agent): string {
  return join(home, { ...FOLDERS, opencode: ".local/share/opencode" }[agent]);
}

const FOLDERS = { claude: ".claude", codex: ".codex", daemon: ".agentproto", hermes: ".hermes" };

/** Adds a session of one prompt and one answer to a folder of an agent's, as its CLI writes it. */
export function tell(agent: Agent, root: string, told: Told): void {
  WRITERS[agent](root, told);
}

const OPENCODE_SCHEMA = readFileSync(
  fileURLToPath(new URL("../../fixtures/opencode/schema-1.18.33.sql", import.meta.url)),
  "utf8",
);
const HERMES_SCHEMA = `
  CREATE TABLE schema_version (version INTEGER NOT NULL);
  INSERT INTO schema_version VALUES (30);
  CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, model_config TEXT,
    parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT, message_count INTEGER DEFAULT 0,
    input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0, cwd TEXT, title TEXT, last_activity_at REAL);
  CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
    content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL,
    active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0);
  CREATE INDEX messages_by_session ON messages(session_id, timestamp);`;

const BEGUN_BEFORE_MS = 60_000;

const WRITERS: { readonly [agent in Agent]: (root: string, told: Told) => void } = {
  claude(root, { id, at, title, cwd, parent }) {
    const side = parent === undefined ? {} : { agentId: id };
    const common = { sessionId: parent ?? id, cwd, version: "2.1.332", gitBranch: "main" };
    const frame = { isSidechain: parent !== undefined, ...side, ...common };
    const answer = { id: "msg_1", type: "message", role: "assistant", model: "claude-sonnet-5" };
    const usage = { input_tokens: 10, output_tokens: 5 };
    const folder = join(root, "projects", cwd.replace(/[^A-Za-z0-9]/g, "-"));
    const file = parent === undefined ? `${id}.jsonl` : join(parent, "subagents", `agent-${id}.jsonl`);
    append(join(folder, file), [
      ...(parent === undefined ? [{ type: "custom-title", customTitle: title, sessionId: id }] : []),
      {
        parentUuid: null,
        uuid: "u1",
        type: "user",
        message: { role: "user", content: title },
        timestamp: iso(at - BEGUN_BEFORE_MS),
        ...frame,
      },
      {
        parentUuid: "u1",
        uuid: "u2",
        type: "assistant",
        message: { ...answer, content: [{ type: "text", text: "Done." }], usage },
        timestamp: iso(at),
        ...frame,
      },
    ]);
  },
  codex(root, { id, at, title, cwd, parent }) {
    const begun = iso(at - BEGUN_BEFORE_MS);
    const spawn = { parent_thread_id: parent, depth: 1, agent_nickname: title, agent_role: "default" };
    const source = parent === undefined ? "exec" : { subagent: { thread_spawn: spawn } };
    const header = { id, timestamp: begun, cwd, originator: "codex_exec", cli_version: "0.134.0", source };
    const [day = "", time = ""] = begun.slice(0, 19).split("T");
    const name = `rollout-${day}T${time.replaceAll(":", "-")}-${id}.jsonl`;
    append(join(root, "sessions", day.replaceAll("-", "/"), name), [
      { timestamp: begun, type: "session_meta", payload: header },
      { timestamp: begun, type: "event_msg", payload: { type: "task_started", turn_id: "t1" } },
      { timestamp: begun, type: "event_msg", payload: { type: "user_message", message: title } },
      { timestamp: iso(at), type: "event_msg", payload: { type: "agent_message", message: "Done." } },
      { timestamp: iso(at), type: "event_msg", payload: { type: "task_complete", turn_id: "t1" } },
    ]);
  },
  daemon(root, { id, at, title, cwd }) {
    append(join(root, "sessions", id, "events.jsonl"), [
      { seq: 1, ts: iso(at - BEGUN_BEFORE_MS), kind: "system-prompt", sessionId: id, text: "You are an agent.", cwd },
      { seq: 2, ts: iso(at - BEGUN_BEFORE_MS), kind: "user-prompt", sessionId: id, text: title },
      { seq: 3, ts: iso(at), kind: "text-delta", sessionId: id, text: "Done.\n" },
      { seq: 4, ts: iso(at), kind: "turn-end", sessionId: id, reason: "completed" },
    ]);
  },
  hermes(root, { id, at, title, cwd, parent }) {
    const begun = (at - BEGUN_BEFORE_MS) / 1000;
    const model_config = parent === undefined ? "{}" : JSON.stringify({ _delegate_from: parent });
    write(join(root, "state.db"), HERMES_SCHEMA, (database) => {
      const last = { ended_at: null, message_count: 2, last_activity_at: at / 1000 };
      const session = { id, source: "cli", parent_session_id: parent ?? null, started_at: begun, cwd, title };
      insert(database, "sessions", { ...session, ...last, model_config });
      insert(database, "messages", { session_id: id, role: "user", content: title, timestamp: begun });
      insert(database, "messages", { session_id: id, role: "assistant", content: "Done.", timestamp: at / 1000 });
    });
  },
  opencode(root, { id, at, title, cwd, parent }) {
    const begun = at - BEGUN_BEFORE_MS;
    write(join(root, "opencode.db"), OPENCODE_SCHEMA, (database) => {
      const times = { time_created: begun, time_updated: at };
      const session = { id, project_id: "p", slug: "s", directory: cwd, title, version: "1.18.33" };
      insert(database, "session", { ...session, parent_id: parent ?? null, ...times });
      for (const [role, text, time] of [
        ["user", title, begun],
        ["assistant", "Done.", at],
      ] as const) {
        const when = { session_id: id, time_created: time, time_updated: time };
        insert(database, "message", { id: `msg_${id}_${role}`, ...when, data: JSON.stringify({ role }) });
        const data = JSON.stringify({ type: "text", text });
        insert(database, "part", { id: `prt_${id}_${role}`, message_id: `msg_${id}_${role}`, ...when, data });
      }
    });
  },
};

function append(file: string, records: readonly object[]): void {
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
}

function write(path: string, schema: string, use: (database: DatabaseSync) => void): void {
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = OFF");
  if (database.prepare("SELECT count(*) AS tables FROM sqlite_master").get()?.tables === 0) database.exec(schema);
  use(database);
  database.close();
}

function insert(
  database: DatabaseSync,
  table: string,
  fields: { readonly [column: string]: string | number | null },
): void {
  const names = Object.keys(fields);
  const marks = names.map(() => "?").join(", ");
  database.prepare(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${marks})`).run(...Object.values(fields));
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
