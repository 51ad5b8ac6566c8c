import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Child } from "../../src/agents/child.ts";
import { childVariables } from "../../src/agents/child-variables.ts";
import { freshIdentity, ProcessTable, processesOf, rowFromStat, rowsFromPs } from "../../src/agents/process-table.ts";
import { endLeftover, runningOf } from "../../src/agents/process-tree.ts";
import { startChild } from "../../src/agents/start-child.ts";
import { Failure } from "../../src/platform/failure.ts";
import { identityOf, isAlive, ourIdentity } from "../../src/platform/process-identity.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { freshMark, marked, TABLE, textOf, until, VARIABLES } from "./left.ts";

const LINUX = process.platform === "linux";

/** A child that runs a shell's script. */
function shell(t: TestContext, script: string, mark = freshMark(t)): Promise<Child> {
  return startChild(
    { command: "sh", args: ["-c", script], cwd: temporaryFolder(t), env: VARIABLES },
    { mark, table: TABLE },
  );
}

test("what a child prints comes as it was printed, and its exit tells how it ended", async (t) => {
  const child = await shell(t, "printf out; printf err >&2; exit 3");
  const [out, err, exit] = await Promise.all([textOf(child.stdout), textOf(child.stderr), child.exited]);
  assert.deepEqual([out, err, exit], ["out", "err", { code: 3, signal: null }]);
  const killed = await shell(t, "kill -KILL $$");
  assert.deepEqual(await killed.exited, { code: null, signal: "SIGKILL" });
});

test("a child has the folder, the words and the variables that it was given, and a mark", async (t) => {
  const mark = freshMark(t);
  const cwd = temporaryFolder(t);
  const args = ["-c", 'pwd; printf "%s|" "$@"; echo; env', "sh", "a b", "", "é\n'"];
  const child = await startChild(
    { command: "sh", args, cwd, env: { ...VARIABLES, ONE: "1=2" } },
    { mark, table: TABLE },
  );
  const text = await textOf(child.stdout);
  assert.ok(text.startsWith(`${cwd}\na b||é\n'|\n`), text);
  assert.match(text, /^ONE=1=2$/m);
  assert.match(text, new RegExp(`^AGENT_BRIDGE_SESSION=${mark}$`, "m"));
});

test("each reason why a child can't be started is told apart, and says what to do", async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "plain"), "#!/bin/sh\n", { mode: 0o644 });
  writeFileSync(join(folder, "script"), "#!/nowhere/interpreter\n", { mode: 0o755 });
  const start = (command: string, cwd = folder, args: string[] = []): Promise<string> =>
    startChild({ command, args, cwd, env: VARIABLES }, { mark: freshMark(t), table: TABLE }).then(
      () => "started",
      (error: unknown) => (error instanceof Failure ? `${error.kind}: ${error.message}` : `no Failure: ${error}`),
    );
  assert.deepEqual(
    [
      await start("agent-bridge-no-such\u001b[31m"),
      await start("./none"),
      await start("./plain"),
      await start("./script"),
      await start("sh", join(folder, "gone")),
      await start("sh", join(folder, "plain")),
      await start("sh", "here"),
      await start("sh", folder, ["a\0b"]),
      await start("", folder),
      await start("sh", folder, ["x".repeat(3_000_000)]),
    ],
    [
      'bad-request: there is no program "agent-bridge-no-such": install it, or give its full path',
      'bad-request: there is no program "./none": install it, or give its full path',
      'bad-request: "./plain" may not be executed: check its permissions',
      'bad-request: "./script" can\'t be started: the program that its first line names is not installed',
      "bad-request: the session's folder is not there: make it, or name another",
      "bad-request: what the session is to work in is no folder: name another",
      "bad-request: the session's folder must be given in full",
      "bad-request: a word of the command holds a NUL character, which no program can be given",
      "bad-request: the command is empty: name a program",
      'bad-request: "sh" can\'t be started: its arguments and variables are too long',
    ],
  );
});

test("too many open files fail the start and nothing else", { skip: !LINUX }, async (t) => {
  const program = `
    import { openSync } from "node:fs";
    import { ProcessTable } from "${new URL("../../src/agents/process-table.ts", import.meta.url)}";
    import { startChild } from "${new URL("../../src/agents/start-child.ts", import.meta.url)}";
    const start = () => startChild({ command: "sh", args: [], cwd: "/", env: {} }, { mark: "${freshMark(t)}", table: new ProcessTable() });
    await (await start()).end(1000);
    try { for (;;) openSync("/dev/null"); } catch {}
    await start().then(() => console.log("started"), (error) => console.log(error.kind, error.message));
  `;
  const limited = spawn("sh", [
    "-c",
    'ulimit -n 64; exec "$0" "$@"',
    process.execPath,
    ...process.execArgv,
    "--input-type=module",
    "-e",
    program,
  ]);
  t.after(() => limited.kill("SIGKILL"));
  assert.equal(
    await textOf(limited.stdout),
    'failed "sh" can\'t be started: too many files are open; end some sessions\n',
  );
});

test("what is written reaches the child in order, and its input ends when it is closed", async (t) => {
  const child = await shell(t, "cat");
  const text = textOf(child.stdout);
  const line = `${"é".repeat(5_000)}\n`;
  for (let index = 0; index < 100; index++) await child.write(index % 2 === 0 ? line : Buffer.from(line));
  child.closeInput();
  assert.equal(await text, line.repeat(100));
  assert.deepEqual(await child.exited, { code: 0, signal: null });
});

test("a write waits for a child that does not read, and comes back when it is gone; later ones do nothing", async (t) => {
  const child = await shell(t, "exec sleep 60");
  let isBack = false;
  const writing = child.write(Buffer.alloc(4 * 1024 * 1024)).then(() => {
    isBack = true;
  });
  const queued = child.write("more");
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(isBack, false);
  await child.end(1_000);
  await writing;
  await queued;
  await child.write("too late");
  child.closeInput();
});

test("a child that closes its input or ends at once does no harm to whoever writes", async (t) => {
  for (const script of ["exec 0<&-; printf closed; exec sleep 60", "exit 0"]) {
    const child = await shell(t, script);
    const output = child.stdout[Symbol.asyncIterator]();
    await output.next();
    for (let index = 0; index < 5; index++) await child.write(Buffer.alloc(300_000));
    await child.end(1_000);
  }
});

test("output that nobody reads holds the child back, waits for a late reader, and hinders no end", async (t) => {
  const child = await shell(t, "yes 0123456789 | head -c 100000000; exit 7");
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.ok(isAlive(child.identity), "it waits for a reader");
  await child.end(500);
  const short = await shell(t, "printf late; printf why >&2; exit 7");
  assert.deepEqual(await short.exited, { code: 7, signal: null });
  assert.deepEqual([await textOf(short.stdout), await textOf(short.stderr)], ["late", "why"]);
});

test("all of a large output comes to a slow reader before the exit is told", async (t) => {
  const child = await shell(t, "yes 0123456789 | head -c 3000000");
  let bytes = 0;
  let isOver = false;
  void child.exited.then(() => {
    isOver = true;
  });
  for await (const part of child.stdout) {
    assert.ok(!isOver);
    bytes += part.length;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await child.exited;
  assert.equal(bytes, 3_000_000);
});

test("the exit is told, and the output ends, when another process still holds the pipe: silent, chatty or flooding", async (t) => {
  for (const other of ["sleep 60", "while :; do echo chat; sleep 0.1; done", "yes"]) {
    const child = await shell(t, `(${other}) & printf mine; exit 5`);
    const [text, exit] = await Promise.all([textOf(child.stdout), child.exited]);
    assert.match(text, /^(?:chat\n|y\n)*mine/, other);
    assert.deepEqual(exit, { code: 5, signal: null });
    await child.end(0);
  }
});

test("a child is asked to end, and ends in its own way", async (t) => {
  const child = await shell(t, "trap 'printf bye; exit 9' TERM; printf up; while :; do sleep 0.05; done");
  let text = "";
  const reading = (async () => {
    for await (const part of child.stdout) text += Buffer.from(part).toString();
  })();
  await until(() => text === "up", "it is up");
  assert.deepEqual(await child.end(10_000), { code: 9, signal: null });
  await reading;
  assert.equal(text, "upbye");
});

test("a child that does not want to end is killed, with all that it started, wherever that has got to", async (t) => {
  const mark = freshMark(t);
  const stubborn = "trap '' TERM HUP INT; touch \\$0; while :; do sleep 0.05; done";
  const folder = temporaryFolder(t);
  const script = [
    "trap '' TERM",
    `sh -c "${stubborn}" ${folder}/child &`,
    // A session of its own; and one that has lost its parent as well.
    ...(LINUX
      ? [`setsid sh -c "${stubborn}" ${folder}/session &`, `(setsid sh -c "${stubborn}" ${folder}/orphan & )`]
      : []),
    `set -m; sh -c "${stubborn}" ${folder}/group &`,
    "printf up; while :; do sleep 0.05; done",
  ].join("\n");
  const child = await shell(t, script, mark);
  const names = LINUX ? ["child", "group", "orphan", "session"] : ["child", "group"];
  await until(() => names.every((name) => existsSync(join(folder, name))), "all are up");
  const before = LINUX ? (await marked(mark)).length : 0;
  assert.ok(!LINUX || before >= 5, `${before}`);
  assert.deepEqual(await child.end(200), { code: null, signal: "SIGKILL" });
  assert.deepEqual(await marked(mark), []);
});

test("what a child left behind when it ended is ended too", { skip: !LINUX }, async (t) => {
  const mark = freshMark(t);
  const folder = temporaryFolder(t);
  const child = await shell(
    t,
    `setsid sh -c 'touch ${folder}/up; exec sleep 60' </dev/null >/dev/null 2>&1 & exit 0`,
    mark,
  );
  await child.exited;
  await until(() => existsSync(join(folder, "up")), "it is up");
  assert.equal((await marked(mark)).length, 1);
  assert.deepEqual(await child.end(5_000), { code: 0, signal: null });
  assert.deepEqual(await marked(mark), []);
});

test("a second, hastier end does not wait for the first", async (t) => {
  const child = await shell(t, "trap '' TERM; printf up; while :; do sleep 0.05; done");
  await child.stdout[Symbol.asyncIterator]().next();
  const slow = child.end(600_000);
  assert.deepEqual(await child.end(0), { code: null, signal: "SIGKILL" });
  assert.deepEqual(await slow, { code: null, signal: "SIGKILL" });
});

test("a child leads a process group of its own, so that Ctrl-C in our terminal does not reach it", {
  skip: !LINUX,
}, async (t) => {
  const child = await shell(t, "exec sleep 60");
  const row = rowFromStat(child.identity.pid, readFileSync(`/proc/${child.identity.pid}/stat`, "utf8"));
  assert.deepEqual([row?.group, row?.session], [child.identity.pid, child.identity.pid]);
  await child.end(1_000);
});

test("when the server is killed, a child's input ends, and what it does not end is ended at the next start", {
  skip: !LINUX,
}, async (t) => {
  const mark = freshMark(t);
  const folder = temporaryFolder(t);
  const server = `
    import { writeFileSync } from "node:fs";
    import { ProcessTable } from "${new URL("../../src/agents/process-table.ts", import.meta.url)}";
    import { startChild } from ${JSON.stringify(fileURLToPath(new URL("../../src/agents/start-child.ts", import.meta.url)))};
    const script = "cat; touch $0/input-ended; trap '' TERM HUP; while :; do sleep 0.05; done";
    const child = await startChild(
      { command: "sh", args: ["-c", script, ${JSON.stringify(folder)}], cwd: "/", env: { PATH: process.env.PATH } },
      { mark: ${JSON.stringify(mark)}, table: new ProcessTable() });
    console.log(JSON.stringify(child.identity));
  `;
  const process1 = spawn(process.execPath, [...process.execArgv, "--input-type=module", "-e", server], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => process1.kill("SIGKILL"));
  let line = "";
  for await (const part of process1.stdout) {
    line += part;
    if (line.includes("\n")) break;
  }
  const identity = JSON.parse(line);
  process1.kill("SIGKILL");
  await until(() => existsSync(join(folder, "input-ended")), "its input has ended");
  // Another start of the process, or another mark, is another child: nothing happens to this one.
  await endLeftover({ ...identity, boot: "an earlier one" }, mark, { graceMs: 0, table: TABLE });
  await endLeftover({ ...identity, start: `${Number(identity.start) + 1}` }, "sess_other", {
    graceMs: 0,
    table: TABLE,
  });
  assert.ok(isAlive(identity));
  await endLeftover(identity, mark, { graceMs: 100, table: TABLE });
  assert.ok(!isAlive(identity));
  await endLeftover(identity, mark, { graceMs: 100, table: TABLE });
});

test("neither this process nor one that it descends from is ever among what is ended", async () => {
  const table = await TABLE.now();
  const ours = ourIdentity();
  const rows = runningOf({ root: ours, mark: "sess_none" }, table);
  assert.ok(!rows.some(({ pid }) => pid === process.pid || pid === process.ppid));
  assert.deepEqual(
    runningOf({ root: identityOf(process.ppid) ?? assert.fail(), mark: "sess_none" }, table).filter(
      ({ pid }) => pid === process.pid,
    ),
    [],
  );
});

test("a child that ends at once is known by its start all the same, so that its number is never taken for it", async (t) => {
  const child = await shell(t, "exit 0");
  assert.ok(child.identity.start !== undefined);
  assert.deepEqual(await child.end(0).then(() => isAlive(child.identity)), false);
  assert.equal(freshIdentity(process.pid).start, ourIdentity().start);
});

test("a process that has got the number of one that is gone is another, and so are its group and its children", () => {
  const row = (pid: number, parent: number, start: string, group = pid) => ({
    pid,
    parent,
    group,
    session: group,
    terminal: 0,
    start,
  });
  const table = [row(10, 1, "500"), row(11, 10, "501", 10), row(12, 11, "502")];
  const pids = (start: string) =>
    runningOf({ root: { pid: 10, start }, mark: "sess_none" }, processesOf(table)).map(({ pid }) => pid);
  assert.deepEqual([pids("500"), pids("400")], [[10, 11, 12], []]);
  const orphans = table.slice(1);
  assert.deepEqual(
    runningOf({ root: { pid: 10, start: "500" }, mark: "sess_none" }, processesOf(orphans)).map(({ pid }) => pid),
    [11, 12],
  );
});

test("a terminal's processes belong to it only while its root holds it", () => {
  const on = (pid: number, terminal: number) => ({ pid, parent: 1, group: pid, session: pid, terminal, start: "500" });
  const pids = (...table: ReturnType<typeof on>[]) =>
    runningOf({ root: { pid: 10, start: "500" }, mark: "sess_none", terminal: 7 }, processesOf(table)).map(
      ({ pid }) => pid,
    );
  assert.deepEqual([pids(on(10, 0), on(20, 7), on(21, 8)), pids(on(20, 7))], [[10, 20], []]);
});

test("those that ask for the table in one turn share one reading, and it tells with what a process was started", async () => {
  const table = new ProcessTable();
  const [first, second] = await Promise.all([table.now(), table.now()]);
  assert.equal(first, second);
  assert.notEqual(await table.now(), first);
  if (!LINUX) return;
  assert.equal(first.variableOf(process.pid, "PATH"), process.env.PATH);
  assert.equal(first.variableOf(process.pid, "AGENT_BRIDGE_NO_SUCH"), undefined);
});

test("the table of macOS is read", () => {
  assert.deepEqual(
    rowsFromPs("    1     0     1 Mon Nov  2 10:00:00 2026    \n  345   1   345 Tue Nov  3 09:08:07 2026\nx\n"),
    [
      { pid: 1, parent: 0, group: 1, session: 0, terminal: 0, start: "Mon Nov  2 10:00:00 2026" },
      { pid: 345, parent: 1, group: 345, session: 0, terminal: 0, start: "Tue Nov  3 09:08:07 2026" },
    ],
  );
});

test("thirty short children leave no open file and no zombie", { skip: !LINUX }, async (t) => {
  const mark = freshMark(t);
  const files = (): number => readdirSync("/proc/self/fd").length;
  const one = async (): Promise<void> => {
    const child = await shell(t, "printf unread; printf unread >&2", mark);
    await child.exited;
    await child.end(1_000);
  };
  await one();
  const before = files();
  for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: 10 }, one));
  await until(() => files() <= before, `open files: ${before} before, ${files()} now`);
  const zombies = readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name) || !existsSync(`/proc/${name}/stat`)) return false;
    return new RegExp(`\\) Z ${process.pid} `).test(readFileSync(`/proc/${name}/stat`, "utf8"));
  });
  assert.deepEqual(zombies, []);
});

test("a program gets our variables without what tells of ourselves and of the CLI that we may run in", () => {
  const given = {
    PATH: "/bin",
    EMPTY: "",
    AGENT_BRIDGE_HOME: "/x",
    AGENT_BRIDGE_SESSION: "sess_outer",
    AGENTPROTO_HOME: "/y",
    CLAUDECODE: "1",
    CLAUDE_CODE_SESSION_ID: "a",
    CLAUDE_CONFIG_DIR: "/c",
    CODEX_THREAD_ID: "b",
    CODEX_HOME: "/d",
    OPENCODE: "1",
    OPENCODE_PID: "4",
    OPENCODE_CONFIG: "/e",
  };
  const expected = {
    EMPTY: "",
    AGENTPROTO_HOME: "/y",
    CLAUDE_CONFIG_DIR: "/c",
    CODEX_HOME: "/d",
    OPENCODE_CONFIG: "/e",
  };
  assert.deepEqual(childVariables(given, { PATH: "/own" }), { PATH: "/own", ...expected });
});

test("a folder that may not be entered is told apart from a program that may not be executed", {
  skip: process.getuid?.() === 0,
}, async (t) => {
  const folder = join(temporaryFolder(t), "closed");
  mkdirSync(folder);
  chmodSync(folder, 0o600);
  await assert.rejects(
    startChild({ command: "sh", args: [], cwd: folder, env: VARIABLES }, { mark: freshMark(t), table: TABLE }),
    new Failure("bad-request", "the session's folder may not be entered: check its permissions"),
  );
});
