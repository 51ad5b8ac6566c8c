import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { Failure } from "../platform/failure.ts";
import { isAlive } from "../platform/process-identity.ts";
import type { Child } from "./child.ts";
import { childrenOf } from "./process-table.ts";
import type { RunningProgram, StartProgram } from "./program.ts";
import { inputOf, pourOut } from "./program-streams.ts";
import { startChild } from "./start-child.ts";
import { checkCommand, noProgram, programPath } from "./start-failure.ts";

/**
 * Starts a program on a pseudo-terminal, which `script` of util-linux makes and hands on to us by pipes: Node has none.
 * @throws Failure conflict: there is no such `script` here · bad-request
 */
export async function startTerminal(what: StartProgram): Promise<RunningProgram> {
  checkSize(what.columns, what.rows);
  const [command = "", ...args] = what.argv;
  checkCommand({ command, args, cwd: what.cwd, env: what.env });
  const path = programPath({ command, cwd: what.cwd, env: what.env });
  if (path === undefined) throw noProgram(command);
  await checkScript(what.env);
  const terminal: { device?: number } = {};
  const child = await startChild(
    {
      command: "script",
      args: ["-q", "-e", "-f", "-c", commandLine([path, ...args], what), "/dev/null"],
      cwd: what.cwd,
      env: terminalVariables(what.env),
    },
    {
      mark: what.mark,
      polite: ["SIGHUP", "SIGTERM", "SIGCONT"],
      rootLast: true,
      terminal: () => terminal.device,
      table: what.table,
    },
  );
  const input = inputOf(child);
  const exited = pourOut(child, what.output);
  terminal.device = await deviceOf(child);
  let isLineBegun = false;
  return {
    identity: child.identity,
    input: (text) => {
      input.write(text);
      if (text !== "") isLineBegun = !/[\r\n]$/.test(text);
    },
    // In the middle of a line it only hands over what is typed so far; the second one says that nothing follows.
    endInput: () => {
      input.write(isLineBegun ? END_OF_FILE.repeat(2) : END_OF_FILE);
      isLineBegun = false;
    },
    resize: (columns, rows) => resize(child, terminal.device, columns, rows),
    exited,
    end: (graceMs) => child.end(graceMs),
  };
}

/** What the terminal's driver takes for the end of the input, unless the program has asked for every key. */
const END_OF_FILE = "\u0004";
/** How long `script` may take to make the terminal: ms. */
const UP_MS = 5_000;
const LOOK_MS = 10;

/** @throws Failure conflict */
async function checkScript(env: StartProgram["env"]): Promise<void> {
  if (process.platform !== "linux") {
    throw new Failure(
      "conflict",
      "terminal sessions need Linux and `script` of util-linux: start a command session instead",
    );
  }
  const version = await outputOf("script", ["--version"], env);
  if (!version?.includes("util-linux")) {
    throw new Failure(
      "conflict",
      "terminal sessions need `script` of util-linux: install the package bsdutils (Debian, Ubuntu), util-linux-script (Fedora), util-linux-misc (Alpine) or util-linux",
    );
  }
}

/** What a short-lived program prints; undefined when it fails. */
function outputOf(command: string, args: readonly string[], env: StartProgram["env"]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(command, args, { env, timeout: 5_000, killSignal: "SIGKILL" }, (error, stdout) =>
      resolve(error === null ? stdout : undefined),
    );
  });
}

/** For the shell that `script` starts: the terminal has its size before the program begins, and the program takes the shell's place. */
function commandLine(argv: readonly string[], { columns, rows, env }: StartProgram): string {
  const shell = env.SHELL === undefined ? "unset SHELL" : `SHELL=${quoted(env.SHELL)}; export SHELL`;
  return `stty cols ${columns} rows ${rows} 2>/dev/null; ${shell}; exec ${argv.map(quoted).join(" ")}`;
}

/** One word for a POSIX shell, whatever it holds. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** `script` gives its command to `$SHELL`, which may be of any kind. What says another terminal's size would be believed. */
function terminalVariables(env: StartProgram["env"]): StartProgram["env"] {
  const { COLUMNS: _columns, LINES: _lines, TERM: term = "dumb", ...others } = env;
  return { ...others, TERM: term === "dumb" || term === "" ? "xterm-256color" : term, SHELL: "/bin/sh" };
}

/** The terminal that `script` has made, once it is there; undefined when the program has ended before that was seen. */
async function deviceOf(script: Child): Promise<number | undefined> {
  const until = performance.now() + UP_MS;
  while (isAlive(script.identity) && performance.now() < until) {
    const leader = (await childrenOf(script.identity.pid)).find(({ terminal }) => terminal !== 0);
    if (leader !== undefined) return leader.terminal;
    await sleep(LOOK_MS);
  }
  return undefined;
}

async function resize(script: Child, device: number | undefined, columns: number, rows: number): Promise<void> {
  checkSize(columns, rows);
  // Its number may be another terminal's as soon as it has ended.
  if (device === undefined || !isAlive(script.identity)) throw new Failure("conflict", "the program has ended");
  const env = { PATH: "/usr/bin:/bin", LC_ALL: "C" };
  const done = await outputOf("stty", ["-F", pathOf(device), "cols", String(columns), "rows", String(rows)], env);
  if (done === undefined) throw new Failure("conflict", "the size can't be changed: the program has ended");
}

/** The path of a pseudo-terminal by the number of its device, as Linux writes it: the minor number around the major one. */
function pathOf(device: number): string {
  return `/dev/pts/${(device & 0xff) | ((device >>> 12) & 0xfff00)}`;
}

/** @throws Failure bad-request */
function checkSize(columns: number, rows: number): void {
  if (![columns, rows].every((size) => Number.isInteger(size) && size >= 1 && size <= 10_000)) {
    throw new Failure("bad-request", "the size of a terminal is 1 to 10000 columns and rows");
  }
}
