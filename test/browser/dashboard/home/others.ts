import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ownRoot, tell } from "../../../built/five-stores.ts";
import { HOSTILE_TEXT } from "./hostile.ts";
import { WHERE } from "./where.ts";

const HOUR = 3_600_000;

/** Writes sessions of the agents besides Claude Code: Codex with patches, OpenCode, Hermes, recordings. */
export function writeOthers(home: string, now: number): void {
  const cwd = join(home, "work/shop");
  writeCodex(home, now - 5 * HOUR, cwd);
  for (const [agent, id, hours] of [
    ["opencode", WHERE.opencode, 7],
    ["hermes", WHERE.hermes, 30],
    ["daemon", "sess_plain0001", 9],
  ] as const) {
    tell(agent, ownRoot(home, agent), { id, at: now - hours * HOUR, title: `A session of ${agent}`, cwd });
    const hostile = { id: `${id}h`, at: now - (hours + 1) * HOUR, title: HOSTILE_TEXT, cwd };
    tell(agent, ownRoot(home, agent), hostile);
  }
  writeRecorded(home, now - 2 * HOUR, cwd);
  writeUnreadable(home, now - 3 * HOUR, cwd);
}

const PATCH = `*** Begin Patch
*** Update File: src/prices.ts
@@ export function sum(prices) {
-  return prices.reduce((a, b) => a + b, 0);
+  const cents = prices.map((price) => Math.round(price * 100));
+  return cents.reduce((a, b) => a + b, 0) / 100;
 }
*** Add File: test/prices.test.ts
+import { sum } from "../src/prices.ts";
+test("cents", () => equal(sum([0.1, 0.2]), 0.3));
*** Delete File: old.ts
*** End Patch
`;

function writeCodex(home: string, at: number, cwd: string): void {
  const time = (second: number): string => new Date(at + second * 1000).toISOString();
  const line = (second: number, type: string, payload: object): object => ({ timestamp: time(second), type, payload });
  const event = (second: number, type: string, fields: object): object =>
    line(second, "event_msg", { type, ...fields });
  const item = (second: number, type: string, fields: object): object =>
    line(second, "response_item", { type, ...fields });
  const [day = "", clock = ""] = time(0).slice(0, 19).split("T");
  const name = `rollout-${day}T${clock.replaceAll(":", "-")}-${WHERE.codex}.jsonl`;
  appendLines(join(home, ".codex/sessions", day.replaceAll("-", "/"), name), [
    line(0, "session_meta", {
      ...{
        id: WHERE.codex,
        timestamp: time(0),
        cwd,
        originator: "codex_cli_rs",
        cli_version: "0.134.0",
        source: "cli",
      },
      git: { branch: "fix/prices" },
    }),
    event(0, "task_started", { turn_id: "t1" }),
    event(1, "user_message", { message: "Sum prices in cents." }),
    event(2, "agent_reasoning", { text: "**Looking around**\n\nI will read the prices." }),
    item(3, "function_call", {
      name: "shell",
      arguments: JSON.stringify({ command: ["bash", "-lc", "cat src/prices.ts"] }),
      call_id: "call_1",
    }),
    item(4, "function_call_output", {
      call_id: "call_1",
      output: "Exit code: 0\nOutput:\nexport function sum(prices) {}",
    }),
    item(5, "custom_tool_call", { status: "completed", call_id: "call_2", name: "apply_patch", input: PATCH }),
    item(6, "custom_tool_call_output", {
      call_id: "call_2",
      output: "Exit code: 0\nSuccess. Updated the following files:\nM src/prices.ts",
    }),
    item(7, "custom_tool_call", { status: "completed", call_id: "call_3", name: "apply_patch", input: HOSTILE_TEXT }),
    item(8, "custom_tool_call_output", { call_id: "call_3", output: "Exit code: 1\nInvalid patch" }),
    event(9, "agent_message", { message: "Prices are summed in **cents** now." }),
    event(10, "task_complete", { turn_id: "t1" }),
  ]);
}

function writeRecorded(home: string, at: number, cwd: string): void {
  const told: readonly (readonly [kind: string, fields: object])[] = [
    ["system-prompt", { text: "You are an agent.", cwd }],
    ["user-prompt", { text: "Count the files" }],
    ["thought", { text: "Need a listing.\n" }],
    ["tool-call", { toolCallId: "t1", toolName: "ls", arguments: { command: "ls" } }],
    ["tool-result", { toolCallId: "t1", result: "a.txt\nb.txt", isError: false }],
    ["text-delta", { text: "There are two:\n\n- a.txt\n- b.txt\n" }],
    ["plan", { entries: [{ content: "Ask", priority: "high", status: "in_progress" }] }],
    ["error", { error: { message: "overloaded", code: 529 } }],
    ["turn-end", { reason: "completed" }],
  ];
  const records = told.map(([kind, fields], index) => ({
    ...{ seq: index + 1, ts: new Date(at + index * 1000).toISOString(), kind, sessionId: WHERE.recorded },
    ...fields,
  }));
  appendLines(join(home, ".agentproto/sessions", WHERE.recorded, "events.jsonl"), records);
}

/** A database whose sessions are told of, but whose messages are of no form that is known. */
function writeUnreadable(home: string, at: number, cwd: string): void {
  const root = join(home, ".local/share/opencode");
  const path = join(root, "opencode-next.db");
  tell("opencode", join(home, "elsewhere"), { id: WHERE.unreadable, at, title: "A session that can't be read", cwd });
  mkdirSync(root, { recursive: true });
  const database = new DatabaseSync(join(home, "elsewhere/opencode.db"));
  database.exec("PRAGMA foreign_keys = OFF");
  const tables = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    .all();
  for (const { name } of tables) if (name !== "session") database.exec(`DROP TABLE "${name}"`);
  database.exec(`VACUUM INTO '${path.replaceAll("'", "''")}'`);
  database.close();
  rmSync(join(home, "elsewhere"), { recursive: true });
}

function appendLines(file: string, records: readonly object[]): void {
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
}
