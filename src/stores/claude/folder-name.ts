import { dirname } from "node:path";

/** A longer name is cut here, and a hash follows. */
const LONGEST = 200;

/**
 * Whether Claude Code keeps sessions of `cwd` in a project folder called `name`. Its name is the folder's real path in NFC
 * with every UTF-16 unit but `[A-Za-z0-9]` made `-`; over 200 characters it is cut and a hash added, which differs
 * between releases, so only the first 200 are compared (2.1.332, and the official reader).
 */
export function isFolderOf(name: string, cwd: string, platform: NodeJS.Platform): boolean {
  const same = (a: string, b: string): boolean =>
    platform === "win32" ? a.toLowerCase() === b.toLowerCase() : a === b;
  const encoded = cwd.normalize("NFC").replace(/[^A-Za-z0-9]/g, "-");
  if (encoded.length <= LONGEST) return same(name, encoded);
  return same(name.slice(0, LONGEST + 1), `${encoded.slice(0, LONGEST)}-`);
}

/**
 * The folder in which `claude --resume` finds a session that lies in the project folder `name`: the first of `cwds`, or of
 * the folders above them, whose name it is (a session may have gone into a folder below). Undefined when none is.
 */
export function homeOf(name: string, cwds: readonly string[], platform: NodeJS.Platform): string | undefined {
  const isHome = (folder: string): boolean => isFolderOf(name, folder, platform);
  return cwds.find(isHome) ?? cwds.flatMap(foldersAbove).find(isHome);
}

function foldersAbove(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [] : [above, ...foldersAbove(above)];
}
