import { realpathSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Environment } from "../platform/environment.ts";

/**
 * How this program is called from any folder, as words for a shell: the Node that runs it (by its name where the shell
 * finds this very one), then the file.
 */
export function callWords(file: string, node: string, environment: Environment): string {
  return [isOnPath(node, environment) ? "node" : shellWord(node), shellWord(file)].join(" ");
}

/** `text` as one word of a shell's command line. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function isOnPath(node: string, environment: Environment): boolean {
  const name = environment.platform === "win32" ? "node.exe" : "node";
  // npm puts folders of its own in front, which the shell that the words are pasted into does not have.
  const folders = (environment.variable("PATH") ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "" && !folder.split(/[\\/]/).includes("node_modules"));
  const first = folders.map((folder) => realPathOf(join(folder, name))).find((path) => path !== undefined);
  return first !== undefined && first === realPathOf(node);
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
