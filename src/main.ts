import "./platform/node-version.ts";
import { COMMANDS } from "./commands/commands.ts";
import { interruption } from "./commands/interruption.ts";
import { callWords } from "./commands/program.ts";
import { run } from "./commands/run.ts";
import { processTerminal } from "./commands/terminal.ts";
import { bridgeOfThisMachine } from "./commands/wiring.ts";
import { dropSqliteWarning } from "./platform/builtins.ts";
import { systemClock } from "./platform/clock.ts";
import { processEnvironment } from "./platform/environment.ts";
import { keepHeapSmall } from "./platform/heap.ts";

/** The version of the built file; the source has none. */
declare const __VERSION__: string | undefined;

dropSqliteWarning();
keepHeapSmall();
const version = typeof __VERSION__ === "string" ? __VERSION__ : "(source)";
const environment = processEnvironment();
const terminal = processTerminal(environment);
const warn = (message: string): void => void terminal.err(`warning: ${message}\n`);
const [, file = "", ...words] = process.argv;

const running = run(
  {
    terminal,
    clock: systemClock,
    environment: processEnvironment,
    program: { version, call: callWords(file, process.execPath, environment) },
    bridge: bridgeOfThisMachine({ version, clock: systemClock, pid: process.pid, warn }),
    untilInterrupted: interruption,
  },
  COMMANDS,
  words,
);

void running.then((code) => {
  process.exitCode = code;
});
