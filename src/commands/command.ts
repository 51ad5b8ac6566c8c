import type { Clock } from "../platform/clock.ts";
import type { Environment } from "../platform/environment.ts";
import { type Completes, flag, type Given, type Options, text, type Valued } from "./arguments.ts";
import type { Bridge } from "./bridge.ts";
import type { Input } from "./input.ts";
import type { Interrupt } from "./interruption.ts";
import type { Program } from "./program.ts";
import type { Terminal } from "./terminal.ts";
import type { Verbs } from "./verbs.ts";

/** 0 fine, 1 failed, 2 wrong usage or not found. */
export type ExitCode = 0 | 1 | 2;

/** What a command runs in; a test gives its own. */
export interface Context {
  readonly terminal: Terminal;
  /** What is typed, or comes from a pipe or file. */
  readonly input: Input;
  readonly clock: Clock;
  /** The environment, with `--home DIR` where it was given. */
  environment(home?: string): Environment;
  readonly program: Program;
  /** The stores, the key and the server. */
  readonly bridge: Bridge;
  /** From the first call on, Ctrl-C and its like abort this signal; before it, they end the process. */
  untilInterrupted(): AbortSignal;
  /** From the first reading to the signal's abort, each Ctrl-C and its like, instead of the end of the process. */
  interrupts(signal: AbortSignal): AsyncIterable<Interrupt>;
}

/** One command of the program. */
export interface Command<O extends Options = Options> {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The words besides options, as the help shows them, and how many there may be. */
  readonly operands: {
    readonly shown: string;
    readonly least: number;
    readonly most: number;
    /** What may stand behind those that stand there `before`. */
    completes?(before: readonly string[]): Completes | undefined;
  };
  readonly options: O;
  /** Where the first word tells what is to be done: which options go with it. */
  readonly verbs?: Verbs<O>;
  /** Paragraphs that say what the options don't. */
  readonly notes: readonly string[];
  /** Command lines without the program's name, each with what it does. */
  readonly examples: readonly (readonly [line: string, does: string])[];
  run(context: Context, given: Given<O>): Promise<ExitCode>;
}

/** Keeps a command's options typed inside it and lets it stand in a table beside others. */
export function command<O extends Options>(definition: Command<O>): Command {
  return definition as unknown as Command;
}

/** No words besides options. */
export const NO_OPERANDS = { shown: "", least: 0, most: 0 } as const;

/** That the first word is `what`, and that nothing is to be offered behind it. */
export function first(what: Completes): Command["operands"]["completes"] {
  return (before) => (before.length === 0 ? what : undefined);
}

/** One session, as `askedChat` finds it. */
export const ONE_SESSION = { shown: "ID", least: 1, most: 1, completes: first("session") } as const;

/** The option of every command that reads our own files. */
export const home: Valued<string> = {
  ...text("DIR", "folder of agent-bridge's own files (~/.agent-bridge)"),
  completes: "folder",
};

/** The option of every command that prints data. */
export const json = flag("print JSON");
