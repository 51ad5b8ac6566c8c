import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "node:test";

/** The program of another process that has a database open, runs the SQL it is sent, a JSON text a line, and answers each. */
const PROGRAM = `
  const { DatabaseSync } = require("node:sqlite");
  const db = new DatabaseSync(process.argv[1]);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = OFF");
  const lines = require("node:readline").createInterface({ input: process.stdin });
  lines.on("line", (line) => { db.exec(JSON.parse(line)); process.stdout.write("done\\n"); });
  lines.on("close", () => { db.close(); process.exit(0); });
`;

/** Another process that writes into a database, as the CLI does: its log is there until it ends. */
export interface Writer {
  readonly pid: number;
  /** Comes back when the statements are committed. */
  run(sql: string): Promise<void>;
  /** Ends it as a clean exit does, which removes the log. */
  close(): Promise<void>;
  /** Ends it as a crash does, which leaves the log behind. */
  kill(): Promise<void>;
}

/** Starts a writer on the database at `path`; it ends with the test. */
export function startWriter(t: TestContext, path: string): Writer {
  const child: ChildProcess = spawn(process.execPath, ["--no-warnings", "-e", PROGRAM, path], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const waiting: (() => void)[] = [];
  child.stdout?.on("data", (text: Buffer) => {
    for (const _ of text.toString().matchAll(/done/g)) waiting.shift()?.();
  });
  return {
    pid: child.pid ?? 0,
    run: (sql) =>
      new Promise((resolve) => {
        waiting.push(resolve);
        child.stdin?.write(`${JSON.stringify(sql)}\n`);
      }),
    async close() {
      const ended = once(child, "exit");
      child.stdin?.end();
      await ended;
    },
    async kill() {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** `value` as a text in SQL. */
export function sqlText(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return `'${text.replaceAll("'", "''")}'`;
}
