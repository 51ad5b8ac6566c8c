import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { errorCode, Failure } from "../platform/failure.ts";
import { clip } from "../transcript/clip.ts";
import { printableLine } from "../transcript/printable.ts";
import type { ChildCommand } from "./child.ts";

/** Where the program `command` lies, as the system finds it from `cwd` with the variables `env`; undefined when it does not. */
export function programPath({ command, cwd, env }: Omit<ChildCommand, "args">): string | undefined {
  if (command.includes("/")) return isProgram(resolve(cwd, command)) ? resolve(cwd, command) : undefined;
  if (command === "") return undefined;
  const folders = (env.PATH ?? DEFAULT_PATH).split(delimiter);
  return folders.map((folder) => join(resolve(cwd, folder), command)).find(isProgram);
}

/** Refuses what can be told before anything is started. @throws Failure bad-request */
export function checkCommand(what: ChildCommand): void {
  if ([what.command, what.cwd, ...what.args].some((word) => word.includes("\0"))) {
    throw new Failure("bad-request", "a word of the command holds a NUL character, which no program can be given");
  }
  if (what.command === "") throw new Failure("bad-request", "the command is empty: name a program");
  if (!isAbsolute(what.cwd)) throw new Failure("bad-request", "the session's folder must be given in full");
  const folder = folderFailure(what.cwd);
  if (folder !== undefined) throw folder;
}

/** Why `what` could not be started, of what the system said. */
export function startFailure(error: unknown, what: ChildCommand): Failure {
  const folder = folderFailure(what.cwd, error);
  if (folder !== undefined) return folder;
  const name = shown(what.command);
  const refused = (message: string): Failure => new Failure("bad-request", message, error);
  switch (errorCode(error)) {
    case "ENOENT":
    case "ENOTDIR":
      // The system says the same of a script whose first line names a program that is not there.
      return programPath(what) === undefined
        ? noProgram(what.command, error)
        : refused(`"${name}" can't be started: the program that its first line names is not installed`);
    case "EACCES":
    case "EPERM":
      return refused(`"${name}" may not be executed: check its permissions`);
    case "ENOEXEC":
      return refused(`"${name}" is no program that this machine can execute`);
    case "E2BIG":
      return refused(`"${name}" can't be started: its arguments and variables are too long`);
    case "EMFILE":
    case "ENFILE":
      return new Failure("conflict", `"${name}" can't be started: too many files are open; end some sessions`, error);
    case "EAGAIN":
    case "ENOMEM":
      return new Failure("conflict", `"${name}" can't be started: the machine has no room for another process`, error);
    default:
      return new Failure("failed", `"${name}" can't be started: ${errorCode(error) ?? "unknown error"}`, error);
  }
}

/** That there is nothing to start under the name `command`. */
export function noProgram(command: string, cause?: unknown): Failure {
  return new Failure(
    "bad-request",
    `there is no program "${shown(command)}": install it, or give its full path`,
    cause,
  );
}

/** Where programs are looked for when no variable says it. */
const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

function folderFailure(cwd: string, cause?: unknown): Failure | undefined {
  // Its path is not told: whoever asks knows it, or is not to.
  try {
    if (!statSync(cwd).isDirectory())
      return new Failure("bad-request", "what the session is to work in is no folder: name another", cause);
    accessSync(cwd, constants.X_OK);
    return undefined;
  } catch (error) {
    return errorCode(error) === "EACCES"
      ? new Failure("bad-request", "the session's folder may not be entered: check its permissions", error)
      : new Failure("bad-request", "the session's folder is not there: make it, or name another", error);
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function shown(text: string): string {
  return clip(printableLine(text), 200).text;
}
