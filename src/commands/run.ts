import { basename, dirname } from "node:path";
import { closest } from "../platform/closest.ts";
import { errorCode, errorText, Failure, type FailureKind } from "../platform/failure.ts";
import { notWritable } from "../platform/private-file.ts";
import { printableLine } from "../transcript/printable.ts";
import { asTyped } from "./api-words.ts";
import { type Options, parseArguments } from "./arguments.ts";
import { type Command, type Context, command, type ExitCode } from "./command.ts";
import { commandHelp, programHelp } from "./help.ts";
import { PROGRAM } from "./program.ts";
import { OutputClosed } from "./reader-waits.ts";

/** Failures that the one who typed the command can mend by typing another. */
const USAGE: readonly FailureKind[] = ["usage", "bad-request", "not-found"];

/** Runs the command line `words` to its end. Never throws: what fails is one line on stderr and the exit code. */
export async function run(context: Context, commands: readonly Command[], words: readonly string[]): Promise<ExitCode> {
  try {
    return await dispatch(context, [...commands, helpCommand(commands)], words);
  } catch (error) {
    if (error instanceof OutputClosed) return 0;
    await context.terminal.err(
      `${PROGRAM}: ${context.program.said(asTyped(messageOf(error)))}\n${detailsOf(context, error)}`,
    );
    return error instanceof Failure && USAGE.includes(error.kind) ? 2 : 1;
  }
}

async function dispatch(
  context: Context,
  commands: readonly Command[],
  [name, ...words]: readonly string[],
): Promise<ExitCode> {
  const alone = name !== undefined && ["--help", "-h", "--version", "-v"].includes(name);
  if (alone && words.length > 0) throw new Failure("usage", `${name} stands alone; see ${PROGRAM} help`);
  if (name === undefined || name === "--help" || name === "-h") {
    await context.terminal.out(programHelp(commands, context.program));
    return 0;
  }
  if (name === "--version" || name === "-v") {
    await context.terminal.out(`${context.program.version}\n`);
    return 0;
  }
  if (name.startsWith("-")) throw new Failure("usage", `options stand behind a command; see ${PROGRAM} help`);
  const chosen = commandOf(commands, name);
  if (asksForHelp(words)) {
    await context.terminal.out(commandHelp(chosen, context.program));
    return 0;
  }
  return chosen.run(context, read(chosen, words));
}

function commandOf(commands: readonly Command[], name: string): Command {
  const found = commands.find((candidate) => candidate.name === name);
  if (found !== undefined) return found;
  const meant = closest(
    name,
    commands.map((candidate) => candidate.name),
  );
  const hint = meant === undefined ? `see ${PROGRAM} help` : `did you mean ${meant}?`;
  throw new Failure("usage", `unknown command "${name}"; ${hint}`);
}

function asksForHelp(words: readonly string[]): boolean {
  const end = words.indexOf("--");
  return (end < 0 ? words : words.slice(0, end)).some((word) => word === "--help" || word === "-h");
}

function read(chosen: Command, words: readonly string[]): ReturnType<typeof parseArguments<Options>> {
  const { least, most, shown } = chosen.operands;
  try {
    const given = parseArguments(chosen.options, words);
    if (given.operands.length < least) throw new Failure("usage", `${chosen.name} needs ${shown}`);
    const extra = given.operands[most];
    if (extra !== undefined) throw new Failure("usage", `${chosen.name} does not take "${extra}"`);
    return given;
  } catch (error) {
    if (!(error instanceof Failure) || error.message.endsWith("?")) throw error;
    throw new Failure(error.kind, `${error.message}; see ${PROGRAM} ${chosen.name} --help`, error);
  }
}

function helpCommand(commands: readonly Command[]): Command {
  const help: Command = command({
    name: "help",
    summary: "this list, or the help of one command",
    operands: { shown: "[COMMAND]", least: 0, most: 1 },
    options: {},
    notes: [],
    examples: [["help ls", "how to list sessions"]],
    async run(context, { operands: [name] }) {
      const all = [...commands, help];
      const text =
        name === undefined ? programHelp(all, context.program) : commandHelp(commandOf(all, name), context.program);
      await context.terminal.out(text);
      return 0;
    },
  });
  return help;
}

/** On one line; an error that is not a `Failure` was not foreseen, and says of what kind it is. */
function messageOf(error: unknown): string {
  const message = errorText(error);
  return printableLine(error instanceof Failure ? message : (unusable(error) ?? `unexpected failure: ${message}`));
}

/** What a system says whose disk or permissions do not let a file be used: no fault of the program. */
const UNUSABLE: readonly (string | undefined)[] = ["EROFS", "EACCES", "EPERM", "ENOSPC", "EDQUOT", "EIO"];

/** What to do about a file of ours that the system does not let be used; undefined for any other error. */
function unusable(error: unknown): string | undefined {
  if (!UNUSABLE.includes(errorCode(error)) || !(error instanceof Error) || !("path" in error)) return undefined;
  const path = String(error.path);
  // A file is written beside its place first, under a name of its own.
  const name = basename(path).replace(/^\.(.+)\.[0-9a-f]{12}\.tmp$/, "$1");
  return notWritable(name, dirname(path), error).message;
}

/** With AGENT_BRIDGE_DEBUG set, where an error came from. */
function detailsOf(context: Context, error: unknown): string {
  if (context.environment().variable("AGENT_BRIDGE_DEBUG") === undefined || !(error instanceof Error)) return "";
  const cause = error.cause instanceof Error ? `caused by ${error.cause.stack}\n` : "";
  return `${error.stack}\n${cause}`;
}
