import "./platform/node-version.ts";
import { COMMANDS } from "./commands/commands.ts";
import { processInput } from "./commands/input.ts";
import { interruption, interrupts } from "./commands/interruption.ts";
import { programOf } from "./commands/program.ts";
import { run } from "./commands/run.ts";
import { processTerminal } from "./commands/terminal.ts";
import { bridgeOfThisMachine } from "./commands/wiring.ts";
import { dropSqliteWarning } from "./platform/builtins.ts";
import { systemClock } from "./platform/clock.ts";
import { processEnvironment } from "./platform/environment.ts";
import { keepHeapSmall } from "./platform/heap.ts";
import { printableLine } from "./transcript/printable.ts";

/** The version of the built file; the source has none. */
declare const __VERSION__: string | undefined;

dropSqliteWarning();
keepHeapSmall();
const version = typeof __VERSION__ === "string" ? __VERSION__ : "(source)";
const environment = processEnvironment();
const terminal = processTerminal(environment);
const [, file = "", ...words] = process.argv;
const commands = [...COMMANDS.map(({ name }) => name), "help"];
const program = programOf({ version, file, node: process.execPath, environment, commands });
const warn = (message: string): void => void terminal.err(`warning: ${printableLine(program.said(message))}\n`);

const running = run(
  {
    terminal,
    input: processInput(environment.variable("TERM") === "dumb"),
    clock: systemClock,
    environment: processEnvironment,
    program,
    bridge: bridgeOfThisMachine({ program, clock: systemClock, pid: process.pid, warn }),
    untilInterrupted: () => interruption(terminal.interrupted),
    interrupts: (signal) => interrupts(signal, terminal.interrupted),
  },
  COMMANDS,
  words,
);

/** How long what a command left behind may go on, such as a read that a disk does not answer: ms. */
const LINGER_MS = 200;

void running.then((code) => {
  process.exitCode = code;
  setTimeout(() => process.exit(), LINGER_MS).unref();
});
