import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createOutput, type Output } from "../../src/agents/output.ts";
import { childrenOf } from "../../src/agents/process-table.ts";
import { endLeftover } from "../../src/agents/process-tree.ts";
import { type RunningProgram, type StartProgram, startProgram } from "../../src/agents/program.ts";
import { Failure } from "../../src/platform/failure.ts";
import { isAlive } from "../../src/platform/process-identity.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { freshMark, marked, TABLE, until, VARIABLES } from "./left.ts";

const LINUX = process.platform === "linux";

type Running = RunningProgram & { readonly output: Output; readonly mark: string };

async function run(
  t: TestContext,
  kind: StartProgram["kind"],
  argv: readonly string[],
  more: Partial<StartProgram> = {},
): Promise<Running> {
  const output = createOutput();
  const mark = freshMark(t);
  const cwd = temporaryFolder(t);
  const program = await startProgram({
    kind,
    argv,
    cwd,
    env: VARIABLES,
    columns: 80,
    rows: 24,
    output,
    mark,
    table: TABLE,
    ...more,
  });
  return { ...program, output, mark };
}

const shown = (output: Output): string => output.read().text;

/** The terminals that exist on this machine. */
const terminals = (): string[] => readdirSync("/dev/pts").filter((name) => name !== "ptmx");

const failureOf = (started: Promise<unknown>): Promise<string> =>
  started.then(
    () => "started",
    (error: unknown) => (error instanceof Failure ? `${error.kind}: ${error.message}` : `no Failure: ${error}`),
  );

test("a command's output and errors are in one output, and its exit tells the code", async (t) => {
  const { output, exited } = await run(t, "command", [
    "sh",
    "-c",
    'printf "$1"; sleep 0.2; printf bad >&2; exit 4',
    "sh",
    "é '\n",
  ]);
  assert.deepEqual(await exited, { code: 4, signal: null });
  assert.deepEqual([shown(output), output.ended], ["é '\nbad", true]);
});

test("a character that two streams cut into each other stays whole", async (t) => {
  const script = "printf '\\360\\237'; sleep 0.2; printf mid >&2; sleep 0.2; printf '\\230\\200'";
  const { output, exited } = await run(t, "command", ["sh", "-c", script]);
  await exited;
  assert.match(shown(output), /^(?:mid😀|😀mid)$/);
});

test("a command reads what it is sent until its input ends", async (t) => {
  const program = await run(t, "command", ["cat"]);
  program.input("one\n");
  program.input("日本\n");
  program.endInput();
  assert.deepEqual(await program.exited, { code: 0, signal: null });
  assert.equal(shown(program.output), "one\n日本\n");
  assert.throws(() => program.input("late"), new Failure("conflict", "the program has ended"));
});

test("a command that does not read is sent no more than is kept for it", async (t) => {
  const program = await run(t, "command", ["sleep", "60"]);
  const full = new Failure("conflict", "the program does not read its input: wait until it does");
  assert.throws(() => {
    for (let index = 0; index < 100; index++) program.input("x".repeat(100_000));
  }, full);
  program.endInput();
  assert.throws(() => program.input("x"), new Failure("conflict", "the program's input is over"));
  assert.deepEqual(await program.end(1_000), { code: null, signal: "SIGTERM" });
});

test("a program or folder that is not there is named, on a terminal too", async (t) => {
  for (const kind of LINUX ? (["command", "terminal"] as const) : (["command"] as const)) {
    assert.deepEqual(
      [
        await failureOf(run(t, kind, ["agent-bridge-no-such", "x"])),
        await failureOf(run(t, kind, [])),
        await failureOf(run(t, kind, ["sh"], { cwd: "/nowhere/at/all" })),
        await failureOf(run(t, kind, ["sh", "a\0b"])),
      ],
      [
        'bad-request: there is no program "agent-bridge-no-such": install it, or give its full path',
        "bad-request: the command is empty: name a program",
        "bad-request: the session's folder is not there: make it, or name another",
        "bad-request: a word of the command holds a NUL character, which no program can be given",
      ],
    );
  }
});

test("a command has no size", async (t) => {
  const program = await run(t, "command", ["sleep", "60"]);
  assert.equal(await failureOf(program.resize(80, 24)), "conflict: only a terminal has a size: this is a command");
  await program.end(0);
});

test("a flood of output keeps no more than the last of it, on pipes and on a terminal", async (t) => {
  for (const kind of LINUX ? (["command", "terminal"] as const) : (["command"] as const)) {
    const program = await run(t, kind, ["sh", "-c", "yes 0123456789 | head -c 30000000; echo end"]);
    await program.exited;
    const { text, next, cut } = program.output.read();
    assert.ok(text.length < 8_000 && /end\r?\n$/.test(text) && cut === true, `${text.length}`);
    assert.ok(next >= 30_000_000);
  }
});

test("what a command left running when it ended is ended", { skip: !LINUX }, async (t) => {
  const program = await run(t, "command", ["sh", "-c", "setsid sleep 60 & sleep 0.2; exit 2"]);
  assert.deepEqual(await program.exited, { code: 2, signal: null });
  assert.deepEqual(await marked(program.mark), []);
});

test("where there is no script of util-linux, a terminal session says so", async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "sh"), "", { mode: 0o755 });
  const started = failureOf(run(t, "terminal", ["sh"], { env: { PATH: folder } }));
  assert.match(await started, /^conflict: terminal sessions need .*`script` of util-linux/);
  writeFileSync(join(folder, "script"), "#!/bin/sh\necho other\n", { mode: 0o755 });
  assert.match(
    await failureOf(run(t, "terminal", ["sh"], { env: { PATH: folder } })),
    /^conflict: terminal sessions need /,
  );
});

if (LINUX) {
  test("a program on a terminal has one, with the size asked for from its first moment, and our own shell", async (t) => {
    const script = 'stty size; tty; echo "$TERM" "$SHELL" "$COLUMNS."; test -t 0 && test -t 1 && test -t 2 && echo all';
    const before = terminals();
    const { output, exited } = await run(t, "terminal", ["sh", "-c", script], {
      columns: 132,
      rows: 43,
      env: { ...VARIABLES, SHELL: "/bin/it's", COLUMNS: "10", TERM: "dumb" },
    });
    assert.deepEqual(await exited, { code: 0, signal: null });
    assert.match(shown(output), /^43 132\r\n\/dev\/pts\/\d+\r\nxterm-256color \/bin\/it's \.\r\nall\r\n$/);
    await until(() => terminals().length <= before.length, "no terminal is left");
  });

  test("every word reaches a program on a terminal as it is", async (t) => {
    const words = [
      "",
      " ",
      "it's",
      '"',
      "a\nb",
      "$HOME `id` \\ ! *",
      "-n",
      "日本 é😀",
      "--",
      "'''",
      "\t",
      "x".repeat(5_000),
    ];
    const program = "process.stdout.write(JSON.stringify(process.argv.slice(1)))";
    const { output, exited } = await run(t, "terminal", [process.execPath, "-e", program, "--", ...words]);
    await exited;
    assert.deepEqual(JSON.parse(shown(output)), words);
  });

  test("words longer than the system takes are refused", async (t) => {
    assert.match(await failureOf(run(t, "terminal", ["echo", "x".repeat(200_000)])), /^bad-request: .* too long$/);
  });

  test("a program on a terminal is found from its folder and by its path", async (t) => {
    const cwd = temporaryFolder(t);
    mkdirSync(join(cwd, "a b"));
    writeFileSync(join(cwd, "a b", "-it's"), "#!/bin/sh\npwd\n", { mode: 0o755 });
    const { output, exited } = await run(t, "terminal", ["./a b/-it's"], { cwd });
    await exited;
    assert.equal(shown(output), `${cwd}\r\n`);
  });

  test("the exit of a program on a terminal is told as its code: also one that a signal may stand behind", async (t) => {
    const exits = [];
    for (const script of ["exit 7", "kill -TERM $$", "kill -KILL $$", "exit 137"]) {
      exits.push(await (await run(t, "terminal", ["sh", "-c", script])).exited);
    }
    assert.deepEqual(exits, [
      { code: 7, signal: null },
      { code: 143, signal: null },
      { code: 137, signal: null },
      { code: 137, signal: null },
    ]);
  });

  test("what is typed is echoed and read; Ctrl-C interrupts; the end-of-file character ends the input", async (t) => {
    const program = await run(t, "terminal", [
      "sh",
      "-c",
      "trap 'echo interrupted' INT; echo ready; while read line; do echo \"got $line\"; done; echo over",
    ]);
    await until(() => shown(program.output).includes("ready"), "it is up");
    program.input("hé\r");
    await until(() => shown(program.output).includes("got hé"), "it has read a line");
    assert.equal(shown(program.output), "ready\r\nhé\r\ngot hé\r\n");
    program.input("\u0003");
    await until(() => shown(program.output).includes("interrupted"), "it was interrupted");
    program.endInput();
    assert.deepEqual(await program.exited, { code: 0, signal: null });
    assert.match(shown(program.output), /over\r\n$/);
  });

  test("the input of a terminal ends in the middle of a line too", async (t) => {
    const program = await run(t, "terminal", ["cat"]);
    program.input("half");
    program.endInput();
    assert.deepEqual(await program.exited, { code: 0, signal: null });
    assert.equal(shown(program.output), "halfhalf");
  });

  test("a terminal takes a new size, and its program is told", async (t) => {
    const program = await run(t, "terminal", [
      "sh",
      "-c",
      "trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done",
    ]);
    await until(() => shown(program.output).includes("ready"), "it is up");
    await program.resize(100, 30);
    await until(() => shown(program.output).includes("30 100\r\n"), "it knows its new size");
    for (const [columns, rows] of [
      [0, 1],
      [1, 0.5],
      [1, Number.NaN],
      [10_001, 1],
    ] as const) {
      assert.equal(
        await failureOf(program.resize(columns, rows)),
        "bad-request: the size of a terminal is 1 to 10000 columns and rows",
      );
    }
    await program.end(2_000);
    assert.equal(await failureOf(program.resize(80, 24)), "conflict: the program has ended");
  });

  test("a terminal is ended with all that runs on it: jobs, what made a session of its own, what ignores every request", async (t) => {
    const folder = temporaryFolder(t);
    const before = terminals();
    const stubborn = "trap '' TERM HUP INT; touch \\$0; while :; do sleep 0.05; done";
    const script = [
      "set -m",
      "trap '' TERM HUP",
      `sh -c "${stubborn}" ${folder}/job &`,
      `setsid sh -c "${stubborn}" ${folder}/session &`,
      `(setsid sh -c "${stubborn}" ${folder}/orphan &)`,
      `(env -u AGENT_BRIDGE_SESSION sh -c "${stubborn}" ${folder}/unmarked &)`,
      "while :; do sleep 0.05; done",
    ].join("\n");
    const program = await run(t, "terminal", ["sh", "-c", script]);
    const names = ["job", "orphan", "session", "unmarked"];
    await until(() => names.every((name) => existsSync(join(folder, name))), "all are up");
    const [shell] = await childrenOf(program.identity.pid);
    assert.ok(shell !== undefined && shell.terminal !== 0);
    const exit = await program.end(200);
    assert.deepEqual(exit, { code: 137, signal: null });
    assert.ok(!isAlive(program.identity) && !isAlive(shell), "neither script nor the shell is left");
    assert.deepEqual(await marked(program.mark), []);
    assert.ok(!commands().some((command) => command.includes(folder)), "nor the one without a mark");
    await until(() => terminals().length <= before.length, "nor the terminal");
  });

  test("a shell that is asked to end ends politely, stopped jobs too", async (t) => {
    const program = await run(t, "terminal", ["bash", "--norc", "-i"]);
    program.input("sh -c 'echo up; kill -STOP $$'\r");
    await until(() => shown(program.output).includes("up\r\n"), "its job has stopped");
    const exit = await program.end(20_000);
    assert.notEqual(exit.signal, "SIGKILL");
  });

  test("when the server is killed, the next start ends all that is left on a terminal", async (t) => {
    const mark = freshMark(t);
    const folder = temporaryFolder(t);
    const before = terminals();
    const stubborn = "trap '' TERM HUP INT; touch \\$0; while :; do sleep 0.05; done";
    const script = `trap '' HUP TERM; (env -u AGENT_BRIDGE_SESSION sh -c "${stubborn}" ${folder}/unmarked &) ; sh -c "${stubborn}" ${folder}/up`;
    const what = {
      kind: "terminal",
      argv: ["sh", "-c", script],
      cwd: "/",
      env: VARIABLES,
      columns: 80,
      rows: 24,
      mark,
    };
    const server = spawn(
      process.execPath,
      [
        ...process.execArgv,
        "--input-type=module",
        "-e",
        `import { createOutput } from "${new URL("../../src/agents/output.ts", import.meta.url)}";
         import { ProcessTable } from "${new URL("../../src/agents/process-table.ts", import.meta.url)}";
         import { startProgram } from "${new URL("../../src/agents/program.ts", import.meta.url)}";
         const program = await startProgram({ ...${JSON.stringify(what)}, output: createOutput(), table: new ProcessTable() });
         console.log(JSON.stringify(program.identity));`,
      ],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    t.after(() => server.kill("SIGKILL"));
    const lines = server.stdout[Symbol.asyncIterator]();
    const identity = JSON.parse(String((await lines.next()).value));
    await until(() => ["up", "unmarked"].every((name) => existsSync(join(folder, name))), "all are up");
    server.kill("SIGKILL");
    await endLeftover(identity, mark, { graceMs: 100, table: TABLE });
    assert.ok(!isAlive(identity));
    assert.deepEqual(await marked(mark), []);
    assert.ok(!commands().some((command) => command.includes(folder)), "nor the one without a mark");
    await until(() => terminals().length <= before.length, "nor the terminal");
  });

  test("a terminal that floods is ended all the same", async (t) => {
    const program = await run(t, "terminal", ["sh", "-c", "trap '' TERM HUP; yes"]);
    await until(() => program.output.read().next > 1_000_000, "it floods");
    await program.end(100);
    await program.exited;
  });
}

/** The words of all processes. */
function commands(): string[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      return /^\d+$/.test(name) ? readFileSync(`/proc/${name}/cmdline`, "utf8") : [];
    } catch {
      return [];
    }
  });
}
