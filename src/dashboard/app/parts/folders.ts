/** The last part of a folder's path. */
export function folderName(path: string): string {
  return partsOf(path).at(-1) ?? path;
}

/** What people call each folder: its last part, with as much before it as tells it from the others. */
export function folderNames(paths: readonly string[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  let left = [...new Set(paths)].map((path) => ({ path, parts: partsOf(path) }));
  for (let depth = 1; left.length > 0; depth++) {
    const named = left.map((folder) => ({ ...folder, name: folder.parts.slice(-depth).join("/") }));
    const counts = new Map<string, number>();
    for (const { name } of named) counts.set(name, (counts.get(name) ?? 0) + 1);
    const isTold = ({ name, parts }: (typeof named)[number]): boolean =>
      counts.get(name) === 1 || depth >= parts.length;
    for (const folder of named) if (isTold(folder)) names.set(folder.path, folder.name || folder.path);
    left = named.filter((folder) => !isTold(folder));
  }
  return names;
}

function partsOf(path: string): readonly string[] {
  return path.split(/[/\\]/).filter(Boolean);
}
