import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { fileURLToPath } from "node:url";

/** The agents whose chats are files of lines. */
export const LINE_AGENTS = ["claude", "codex", "daemon"] as const;
/** The agents whose chats are rows of a database. */
export const ROW_AGENTS = ["opencode", "hermes"] as const;
/** Every agent. */
export const AGENTS = [...LINE_AGENTS, ...ROW_AGENTS] as const;

export type LineAgent = (typeof LINE_AGENTS)[number];
export type RowAgent = (typeof ROW_AGENTS)[number];
export type Agent = (typeof AGENTS)[number];

/** The session of each agent that is written. */
export const SESSIONS: { readonly [agent in Agent]: string } = {
  claude: "00000000-0000-4000-8000-000000000001",
  codex: "019ad3b5-1a00-7000-8000-000000000001",
  daemon: "ses_steady",
  opencode: "ses_steady",
  hermes: "steady",
};

/** What the n-th record of a generation says: its number, and some text of its own length, of characters of one to four bytes. */
export function markOf(generation: number, n: number): string {
  return `g${generation}#${n}; ${"aé世😀".repeat((n * 37) % 11)}`;
}

/** The generations and numbers of the records that `text` holds, in order. */
export function marksIn(text: string): readonly { readonly generation: number; readonly n: number }[] {
  return Array.from(text.matchAll(/g(\d+)#(\d+);/g), ([, generation, n]) => ({
    generation: Number(generation),
    n: Number(n),
  }));
}

/** Where the file of lines lies in a person's home. */
export function filePath(home: string, agent: LineAgent): string {
  const id = SESSIONS[agent];
  switch (agent) {
    case "claude":
      return join(home, ".claude/projects/-home-dev-demo", `${id}.jsonl`);
    case "codex":
      return join(home, ".codex/sessions/2026/11/30", `rollout-2026-11-30T09-00-00-${id}.jsonl`);
    case "daemon":
      return join(home, ".agentproto/sessions", id, "events.jsonl");
  }
}

/** What a file of a generation begins with, before its numbered lines. */
export function headOf(agent: LineAgent, generation: number): string {
  if (agent !== "codex") return "";
  const timestamp = new Date().toISOString();
  const payload = {
    id: SESSIONS.codex,
    timestamp,
    cwd: "/home/dev/demo",
    originator: "codex_exec",
    cli_version: "0.134.0",
    source: "exec",
    generation,
  };
  return `${JSON.stringify({ timestamp, type: "session_meta", payload })}\n`;
}

/** The line of a numbered record, as its CLI writes it: Claude Code 2.1.332, Codex 0.134.0, recordings. */
export function lineOf(agent: LineAgent, generation: number, n: number): string {
  const time = new Date().toISOString();
  return `${JSON.stringify(RECORDS[agent](markOf(generation, n), n, time))}\n`;
}

const RECORDS: { readonly [agent in LineAgent]: (text: string, n: number, time: string) => object } = {
  claude: (text, n, timestamp) => {
    const link = { parentUuid: n === 0 ? null : uuid(n - 1), uuid: uuid(n), isSidechain: false };
    const frame = { timestamp, sessionId: SESSIONS.claude, cwd: "/home/dev/demo", version: "2.1.332" };
    if (n % 2 === 0) return { ...link, type: "user", message: { role: "user", content: text }, ...frame };
    const message = { id: `msg_${n}`, type: "message", role: "assistant", model: "claude-sonnet-5" };
    return { ...link, type: "assistant", message: { ...message, content: [{ type: "text", text }] }, ...frame };
  },
  codex: (message, n, timestamp) => ({
    timestamp,
    type: "event_msg",
    payload: { type: n % 2 === 0 ? "user_message" : "agent_message", message },
  }),
  // Of twenty records the first is a prompt, and the others are pieces of one answer.
  daemon: (text, n, ts) => ({
    seq: n + 1,
    ts,
    kind: n % 20 === 0 ? "user-prompt" : "text-delta",
    sessionId: SESSIONS.daemon,
    text: `${text}\n`,
  }),
};

function uuid(n: number): string {
  return `00000000-0000-4000-9000-${String(n).padStart(12, "0")}`;
}

/** A database that numbered records are written into. */
export interface RowTape {
  write(n: number): void;
  close(): void;
}

/** Makes the database of an agent with an empty chat in a person's home, and leaves it open, as its CLI does. */
export function openRows(home: string, agent: RowAgent): RowTape {
  return agent === "opencode" ? openCodeRows(home) : hermesRows(home);
}

const OPENCODE_SCHEMA = fileURLToPath(new URL("../../fixtures/opencode/schema-1.18.33.sql", import.meta.url));
/** Parts that are still written to. */
const OPEN_PARTS = 16;

/** Of five records one is a new part, and the others are written into it and into earlier ones, in place. */
function openCodeRows(home: string): RowTape {
  const database = opened(join(home, ".local/share/opencode/opencode.db"), readFileSync(OPENCODE_SCHEMA, "utf8"));
  const session = SESSIONS.opencode;
  const start = Date.now();
  insertRow(database, "session", {
    id: session,
    project_id: "p",
    slug: "s",
    directory: "/home/dev/demo",
    title: "Steady",
    version: "1.18.33",
    time_created: start,
    time_updated: start,
  });
  const touch = database.prepare("UPDATE session SET time_updated = ? WHERE id = ?");
  const addMessage = database.prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?)");
  const addPart = database.prepare("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)");
  const rewrite = database.prepare("UPDATE part SET time_updated = ?, data = ? WHERE id = ?");
  const texts = new Map<number, string>();
  const data = (part: number, added: string): string => {
    texts.set(part, (texts.get(part) ?? "") + added);
    texts.delete(part - OPEN_PARTS);
    return JSON.stringify({ type: "text", text: texts.get(part) });
  };
  return {
    write(n) {
      const now = Date.now();
      const part = Math.floor(n / 5);
      const messageId = `msg_${padded(Math.floor(part / 20))}`;
      if (n % 100 === 0) {
        addMessage.run(messageId, session, now, now, JSON.stringify({ role: "assistant", time: { created: now } }));
        touch.run(now, session);
      }
      if (n % 5 === 0) addPart.run(`prt_${padded(part)}`, messageId, session, now, now, data(part, markOf(0, n)));
      else {
        const target = Math.max(0, part - ((n * 7) % OPEN_PARTS));
        rewrite.run(now, data(texts.has(target) ? target : part, markOf(0, n)), `prt_${padded(target)}`);
      }
    },
    close: () => database.close(),
  };
}

function hermesRows(home: string): RowTape {
  const database = opened(
    join(home, ".hermes/state.db"),
    `CREATE TABLE schema_version (version INTEGER NOT NULL);
     INSERT INTO schema_version VALUES (30);
     CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, parent_session_id TEXT,
       started_at REAL NOT NULL, ended_at REAL, end_reason TEXT, message_count INTEGER DEFAULT 0, title TEXT,
       cwd TEXT, last_activity_at REAL);
     CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
       content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL,
       active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0);
     CREATE INDEX messages_by_session ON messages(session_id, timestamp);`,
  );
  const id = SESSIONS.hermes;
  insertRow(database, "sessions", {
    id,
    source: "cli",
    started_at: Date.now() / 1000,
    title: "Steady",
    cwd: "/home/dev/demo",
  });
  const add = database.prepare("INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, ?, ?, ?)");
  return {
    write: (n) => void add.run(id, n % 2 === 0 ? "user" : "assistant", markOf(0, n), Date.now() / 1000),
    close: () => database.close(),
  };
}

function opened(path: string, schema: string): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec(
    `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = OFF; ${schema}`,
  );
  return database;
}

function insertRow(
  database: DatabaseSync,
  table: string,
  fields: { readonly [column: string]: string | number },
): void {
  const names = Object.keys(fields);
  const statement: StatementSync = database.prepare(
    `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
  );
  statement.run(...Object.values(fields));
}

function padded(n: number): string {
  return String(n).padStart(8, "0");
}
