import { realpathSync } from "node:fs";
import { basename, delimiter, join } from "node:path";
import type { Environment } from "../platform/environment.ts";
import { isUsualHome } from "./own-files.ts";

/** The name of the program in helps and messages. */
export const PROGRAM = "agent-bridge";

/** This program, and how it is called. */
export interface Program {
  readonly version: string;
  /** The words that call it from any folder, as a shell takes them. */
  readonly call: string;
  /** The program and its arguments that call it from any folder, without a shell: this very Node, and the file. */
  readonly words: readonly string[];
  /** The same as a person types it where the file lies: no folder stands in it. */
  readonly name: string;
  /** A message, with the commands that it tells to run as they are typed. Messages are written as for the installed program. */
  said(message: string): string;
}

/** The program in `file`, run by `node`. `commands`: the names of its commands. */
export function programOf(given: {
  readonly version: string;
  readonly file: string;
  readonly node: string;
  readonly environment: Environment;
  readonly commands: readonly string[];
}): Program {
  const { version, file, node, environment, commands } = given;
  const installed = isInstalled(file, environment);
  const name = installed ? basename(file) : `node ${shellWord(basename(file))}`;
  const told = new RegExp(`(?<![\\w/.-])${PROGRAM} (?=(?:${commands.join("|")})(?![\\w-]))`, "g");
  return {
    version,
    call: installed ? basename(file) : callWords(file, node, environment),
    words: [node, file],
    name,
    said: (message) => message.replace(told, () => `${name} `),
  };
}

/**
 * How this program is called from any folder, as words for a shell: the Node that runs it (by its name where the shell
 * finds this very one), then the file.
 */
export function callWords(file: string, node: string, environment: Environment): string {
  const name = environment.platform === "win32" ? "node.exe" : "node";
  return [isFound(name, node, environment) ? "node" : shellWord(node), shellWord(file)].join(" ");
}

/** The words that run `command` on our own folder, to be pasted into any shell. */
export function inFull({ call }: Program, command: string, environment: Environment): string {
  return `${call} ${command}${isUsualHome(environment) ? "" : ` --home ${shellWord(environment.bridgeHome)}`}`;
}

/** `text` as one word of a shell's command line. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Whether the shell finds `file` by its name alone, as what a package manager installs. */
function isInstalled(file: string, environment: Environment): boolean {
  const name = basename(file);
  return /^[\w-]+$/.test(name) && isFound(name, file, environment);
}

/** Whether the first `name` on the shell's path is `file`. */
function isFound(name: string, file: string, environment: Environment): boolean {
  // npm puts folders of its own in front, which the shell that the words are pasted into does not have.
  const folders = (environment.variable("PATH") ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "" && !folder.split(/[\\/]/).includes("node_modules"));
  const first = folders.map((folder) => realPathOf(join(folder, name))).find((path) => path !== undefined);
  return first !== undefined && first === realPathOf(file);
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
