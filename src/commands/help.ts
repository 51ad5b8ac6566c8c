import type { Flag, Valued } from "./arguments.ts";
import type { Command } from "./command.ts";
import { PROGRAM, type Program } from "./program.ts";

const COLUMNS = 80;

/** The help of the whole program. */
export function programHelp(commands: readonly Command[], { version, name: called }: Program): string {
  const rows = commands.map(({ name, summary }) => [name, summary] as const);
  return lines(
    `${PROGRAM} ${version}: read what the coding agents on this machine did and do`,
    "",
    `usage: ${called} COMMAND [options]`,
    "",
    ...table(rows),
    "",
    ...wrap(
      `${called} COMMAND --help tells more of a command; --version prints the version. It reads the agents' own files ` +
        "and never writes there. No command but serve and demo opens a port, and those listen on 127.0.0.1 alone.",
      COLUMNS,
    ),
  );
}

/** The help of one command. */
export function commandHelp(command: Command, { name: called, said }: Program): string {
  const options = Object.entries(command.options).map(
    ([name, option]) => [optionUsage(name, option), option.help] as const,
  );
  const rows = [...options, ["-h, --help", "print this help"] as const];
  const usage = [called, command.name, "[options]", command.operands.shown].filter((word) => word !== "").join(" ");
  return lines(
    `${PROGRAM} ${command.name}: ${command.summary}`,
    "",
    `usage: ${usage}`,
    "",
    ...table(rows),
    ...command.notes.flatMap((note) => ["", ...wrap(said(note), COLUMNS)]),
    ...(command.examples.length === 0 ? [] : ["", "examples:"]),
    ...command.examples.flatMap(([line, does]) => [`  ${called} ${line}`, `      ${does}`]),
  );
}

function optionUsage(name: string, option: Flag | Valued<unknown>): string {
  const short = option.short === undefined ? "" : `-${option.short}, `;
  return `${short}--${name}${option.kind === "value" ? ` ${option.placeholder}` : ""}`;
}

/** Rows of two columns, the second wrapped to fit. */
function table(rows: readonly (readonly [string, string])[]): string[] {
  const left = Math.max(...rows.map(([name]) => name.length)) + 4;
  return rows.flatMap(([name, does]) =>
    wrap(does, COLUMNS - left).map((line, index) => (index === 0 ? `  ${name}` : "").padEnd(left) + line),
  );
}

function wrap(text: string, columns: number): string[] {
  const wrapped: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > columns) {
      wrapped.push(line);
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
  }
  return [...wrapped, line];
}

function lines(...texts: string[]): string {
  return `${texts.join("\n")}\n`;
}
