import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Failure } from "../../src/platform/failure.ts";
import type { SqliteDatabase } from "../../src/sqlite/database.ts";
import { textOfBlob } from "../../src/sqlite/database.ts";
import { readDatabase } from "../../src/sqlite/read.ts";

const top = mkdtempSync(join(tmpdir(), "sqlite-"));
const children: ChildProcess[] = [];
after(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(top, { recursive: true, force: true });
});

let folders = 0;

/** A folder for a database whose name needs escaping in a URI, and one for private copies. */
function place(): { folder: string; path: string; scratch: string } {
  const folder = join(top, `store ${++folders}`);
  const scratch = join(top, `scratch-${folders}`);
  mkdirSync(folder);
  mkdirSync(scratch);
  return { folder, path: join(folder, "a b?#%é.db"), scratch };
}

/** Another process that runs `script` with `db` open at `path`, tells when it is done, and waits to be ended. */
async function writer(
  path: string,
  script: string,
): Promise<{ child: ChildProcess; end(signal: NodeJS.Signals): Promise<void> }> {
  const program = `const { DatabaseSync } = require("node:sqlite"); const db = new DatabaseSync(${JSON.stringify(path)});
    ${script}; process.stdout.write("ready"); process.stdin.resume(); process.stdin.on("end", () => { db.close(); process.exit(0); });`;
  const child = spawn(process.execPath, ["--no-warnings", "-e", program], { stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  await new Promise((resolve) => child.stdout?.once("data", resolve));
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    if (signal === "SIGKILL") child.kill(signal);
    else child.stdin?.end();
    await ended;
  };
  return { child, end };
}

const WAL =
  "db.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a INTEGER, b TEXT); INSERT INTO t VALUES (1, char(0) || 2)')";
const ROLLBACK =
  "db.exec('PRAGMA journal_mode = DELETE; CREATE TABLE t (a INTEGER, b TEXT); INSERT INTO t VALUES (1, 2)')";
const count = (database: SqliteDatabase): unknown => database.first("SELECT count(*) AS n FROM t")?.n;

function stateOf(folder: string): unknown {
  return readdirSync(folder).map((name) => {
    const { size, mtimeMs, ctimeMs, ino } = statSync(join(folder, name));
    // Opened by root, SQLite sets the owner of the log and its index anew, which moves their ctime and nothing else.
    const changed = name.includes(".db-") ? 0 : ctimeMs;
    return [
      name,
      size,
      mtimeMs,
      changed,
      ino,
      createHash("sha1")
        .update(readFileSync(join(folder, name)))
        .digest("hex"),
    ];
  });
}

/** Reads once, and holds that nothing in the folder changed. */
async function readUnseen(at: ReturnType<typeof place>): Promise<{ value: unknown; stale: boolean }> {
  const before = stateOf(at.folder);
  const { value, stale } = await readDatabase(at.path, { scratch: at.scratch }, count);
  assert.deepEqual(stateOf(at.folder), before);
  assert.deepEqual(readdirSync(at.scratch), []);
  return { value, stale };
}

test("an idle database with a write-ahead log is read without leaving its side files", async () => {
  const at = place();
  await (await writer(at.path, WAL)).end("SIGTERM");
  assert.equal(readdirSync(at.folder).length, 1);
  assert.deepEqual(await readUnseen(at), { value: 1, stale: false });
});

test("a live log is read with what only stands in it", async () => {
  const at = place();
  const other = await writer(at.path, `${WAL}; db.exec('INSERT INTO t VALUES (2, 3)')`);
  assert.deepEqual(await readUnseen(at), { value: 2, stale: false });
  await other.end("SIGTERM");
});

test("what a killed writer left is read whole", async () => {
  const at = place();
  await (await writer(at.path, WAL)).end("SIGKILL");
  assert.equal(readdirSync(at.folder).length, 3);
  assert.deepEqual(await readUnseen(at), { value: 1, stale: false });
});

test("a log without its index is read from a private copy", async () => {
  const at = place();
  await (await writer(at.path, WAL)).end("SIGKILL");
  rmSync(`${at.path}-shm`);
  assert.deepEqual(await readUnseen(at), { value: 1, stale: false });
});

test("a log that is gone before it can be copied is looked for anew", async () => {
  const at = place();
  await (await writer(at.path, `${WAL}; db.exec('PRAGMA wal_checkpoint')`)).end("SIGKILL");
  rmSync(`${at.path}-shm`);
  const options = {
    // Where the copy goes is asked for once the files were looked at: just then the writer closes the database.
    get scratch() {
      rmSync(`${at.path}-wal`, { force: true });
      return at.scratch;
    },
  };
  const { value, stale } = await readDatabase(at.path, options, count);
  assert.deepEqual({ value, stale }, { value: 1, stale: false });
});

test("a log without its index beside a database too large to copy may be stale, and says so", async () => {
  const at = place();
  await (await writer(at.path, `${WAL}; db.exec('PRAGMA wal_checkpoint'); db.exec('INSERT INTO t VALUES (2, 3)')`)).end(
    "SIGKILL",
  );
  rmSync(`${at.path}-shm`);
  const { value, stale } = await readDatabase(at.path, { scratch: at.scratch, copyBytes: 10 }, count);
  assert.deepEqual({ value, stale }, { value: 1, stale: true });
});

test("a database with a rollback journal is read in place", async () => {
  const at = place();
  await (await writer(at.path, ROLLBACK)).end("SIGTERM");
  assert.deepEqual(await readUnseen(at), { value: 1, stale: false });
});

test("a locked database is waited for, and then said to be locked", async () => {
  const at = place();
  const other = await writer(at.path, `${ROLLBACK}; db.exec('BEGIN EXCLUSIVE')`);
  await assert.rejects(readDatabase(at.path, { scratch: at.scratch, patienceMs: 60 }, count), (error) => {
    return error instanceof Failure && error.kind === "unreadable" && /locked/.test(error.message);
  });
  const waiting = readDatabase(at.path, { scratch: at.scratch }, count);
  await other.end("SIGTERM");
  assert.equal((await waiting).value, 1);
});

test("a journal that a killed writer left is rolled back in a copy, and not where it lies", async () => {
  const at = place();
  const big =
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the program of the other process
    "db.exec('PRAGMA cache_size = 1; BEGIN'); for (let i = 0; i < 5000; i++) db.exec(`INSERT INTO t VALUES (${i}, hex(randomblob(50)))`)";
  await (await writer(at.path, `${ROLLBACK}; ${big}`)).end("SIGKILL");
  assert.ok(readdirSync(at.folder).some((name) => name.endsWith("-journal")));
  assert.deepEqual(await readUnseen(at), { value: 1, stale: false });
  const { stale } = await readDatabase(at.path, { scratch: at.scratch, copyBytes: 10 }, count);
  assert.equal(stale, true, "too large to be copied");
});

test("a writer that goes on writing is read whole each time", async () => {
  const at = place();
  const script = `${WAL}; let n = 1; setInterval(() => { db.exec('BEGIN; INSERT INTO t VALUES (1, 1); INSERT INTO t VALUES (2, 2); COMMIT'); if (++n % 20 === 0) db.exec('PRAGMA wal_checkpoint(TRUNCATE)'); }, 1)`;
  const other = await writer(at.path, script);
  let last = 0;
  for (let i = 0; i < 200; i++) {
    const { value } = await readDatabase(at.path, { scratch: at.scratch }, count);
    assert.ok(typeof value === "number" && value % 2 === 1 && value >= last);
    last = value;
    await new Promise(setImmediate);
  }
  await other.end("SIGTERM");
});

test("all queries of a step see the same state, whatever is committed meanwhile", async () => {
  const at = place();
  const { end } = await writer(at.path, WAL);
  const program = `const { DatabaseSync } = require("node:sqlite"); const db = new DatabaseSync(${JSON.stringify(at.path)});
    db.exec("INSERT INTO t VALUES (2, 'x')"); db.close();`;
  const { value } = await readDatabase(at.path, { scratch: at.scratch }, (database) => {
    const before = count(database);
    execFileSync(process.execPath, ["--no-warnings", "-e", program]);
    return [before, count(database)];
  });
  assert.deepEqual(value, [1, 1]);
  assert.deepEqual((await readDatabase(at.path, { scratch: at.scratch }, count)).value, 2);
  await end("SIGTERM");
});

test("whole numbers beyond 2^53 and text behind a NUL arrive whole", async () => {
  const at = place();
  await (await writer(at.path, `${WAL}; db.exec('INSERT INTO t VALUES (9007199254740993, NULL)')`)).end("SIGTERM");
  const { value } = await readDatabase(at.path, { scratch: at.scratch }, (database) => ({
    rows: database.all("SELECT a FROM t ORDER BY a"),
    each: [...database.each("SELECT a FROM t ORDER BY a")].map((row) => ({ ...row })),
    text: textOfBlob(database.first("SELECT CAST(b AS BLOB) AS b FROM t WHERE a = 1")?.b),
    columns: [...database.columns("t")],
    none: [...database.columns("nothing")],
  }));
  assert.deepEqual(value, {
    rows: [{ a: 1 }, { a: 9007199254740993n }],
    each: [{ a: 1 }, { a: 9007199254740993n }],
    text: "\x002",
    columns: ["a", "b"],
    none: [],
  });
});

test("what is no database, damaged or missing is said plainly", async () => {
  const at = place();
  const reason = (path: string): Promise<string> =>
    readDatabase(path, { scratch: at.scratch, patienceMs: 20 }, count).then(
      () => "read",
      (error) => (error instanceof Failure ? `${error.kind}: ${error.message}` : String(error)),
    );
  assert.equal(await reason(at.path), "not-found: there is no such database");
  writeFileSync(at.path, "hello");
  assert.equal(await reason(at.path), "unreadable: not a SQLite database");
  writeFileSync(at.path, "");
  assert.equal(await reason(at.path), "unreadable: not a SQLite database");
  const other = place();
  await (await writer(other.path, ROLLBACK)).end("SIGTERM");
  copyFileSync(other.path, at.path);
  const bytes = readFileSync(at.path).fill(0x5a, 100, 4096);
  writeFileSync(at.path, bytes);
  assert.equal(await reason(at.path), "unreadable: the database is damaged");
});
