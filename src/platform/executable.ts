import { accessSync, constants, statSync } from "node:fs";
import { posix, win32 } from "node:path";
import type { Environment } from "./environment.ts";

/**
 * The path of the program `name`, as the shell would find it: the first executable file of that name in the folders of
 * `PATH`, on Windows with one of the endings of `PATHEXT`. Undefined when there is none. Folders that are not given in full
 * are passed over: what they mean depends on where one happens to stand.
 */
export function findExecutable(name: string, environment: Environment): string | undefined {
  const { delimiter, isAbsolute, join } = environment.platform === "win32" ? win32 : posix;
  const folders = (environment.variable("PATH") ?? environment.variable("Path") ?? "").split(delimiter);
  const endings = endingsOf(name, environment);
  for (const folder of folders) {
    if (!isAbsolute(folder)) continue;
    const found = endings.map((ending) => join(folder, name + ending)).find((path) => isExecutable(path));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether `path` is a file that may be run. */
export function isExecutable(path: string): boolean {
  try {
    if (!statSync(path).isFile()) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** What may stand behind the name of a program. */
function endingsOf(name: string, environment: Environment): readonly string[] {
  if (environment.platform !== "win32") return [""];
  const endings = (environment.variable("PATHEXT") ?? ".COM;.EXE;.BAT;.CMD").split(";").filter((each) => each !== "");
  return endings.some((ending) => name.toLowerCase().endsWith(ending.toLowerCase())) ? [""] : endings;
}
