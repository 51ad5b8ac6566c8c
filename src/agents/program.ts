import { Failure } from "../platform/failure.ts";
import type { ProcessIdentity } from "../platform/process-identity.ts";
import type { Exit } from "./child.ts";
import type { Output } from "./output.ts";
import type { ProcessTable } from "./process-table.ts";
import { inputOf, pourOut } from "./program-streams.ts";
import { startChild } from "./start-child.ts";
import { checkCommand, noProgram, programPath } from "./start-failure.ts";
import { startTerminal } from "./terminal.ts";

/** What to start, and where what it prints goes. */
export interface StartProgram {
  readonly kind: "command" | "terminal";
  /** The program and its arguments. */
  readonly argv: readonly string[];
  /** An absolute path. */
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  /** The size of a terminal: 1 to 10,000. */
  readonly columns: number;
  readonly rows: number;
  /** Is ended when the program has. */
  readonly output: Output;
  /** By what all that it starts is known; the session's id. */
  readonly mark: string;
  /** One for all programs that may be ended at the same time. */
  readonly table: ProcessTable;
}

/** A program that runs by pipes or on a terminal of its own. */
export interface RunningProgram {
  /** The process from which all others of it come. */
  readonly identity: ProcessIdentity;
  /** What it reads next. @throws Failure conflict: it has ended, its input is over, or it does not read what it has got */
  input(text: string): void;
  /** Its standard input is over; on a terminal, the end-of-file character is typed. */
  endInput(): void;
  /** @throws Failure conflict: it has no terminal, or has ended · bad-request: no size */
  resize(columns: number, rows: number): Promise<void>;
  /**
   * When it has ended, all that it printed is in the output, and nothing of what it started is left. On a terminal, 128 and
   * the number of a signal may stand for that signal, or be a code that the program gave itself: it is told as the code. Never
   * fails.
   */
  readonly exited: Promise<Exit>;
  /** Ends it and all that it started: politely, then (after `graceMs`) for good. */
  end(graceMs: number): Promise<Exit>;
}

/**
 * Starts a program and lets what it prints go into the output, however much that is.
 * @throws Failure bad-request: no such program or folder, or words that can't be given · conflict: no terminal here
 */
export async function startProgram(what: StartProgram): Promise<RunningProgram> {
  return what.kind === "terminal" ? startTerminal(what) : startCommand(what);
}

/** Refuses what can be told of a program before it is started. @throws Failure bad-request */
export function checkProgram({ argv, cwd, env }: Pick<StartProgram, "argv" | "cwd" | "env">): void {
  const [command = "", ...args] = argv;
  checkCommand({ command, args, cwd, env });
  if (programPath({ command, cwd, env }) === undefined) throw noProgram(command);
}

async function startCommand(what: StartProgram): Promise<RunningProgram> {
  const [command = "", ...args] = what.argv;
  const child = await startChild(
    { command, args, cwd: what.cwd, env: what.env },
    { mark: what.mark, table: what.table },
  );
  const input = inputOf(child);
  return {
    identity: child.identity,
    input: input.write,
    endInput: input.end,
    resize: async () => {
      throw new Failure("conflict", "only a terminal has a size: this is a command");
    },
    exited: pourOut(child, what.output),
    end: (graceMs) => child.end(graceMs),
  };
}
