import { createHash } from "node:crypto";
import { type BigIntStats, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join, relative } from "node:path";

/**
 * What stands at each path of a folder: kind, mode, owner, inode, size, time and content. Not the time of the last change of
 * these: where root reads a database, SQLite gives its `-wal` and `-shm` the owner that they have.
 */
export type Trace = ReadonlyMap<string, string>;

/** Everything below `top` that `counts`, the folders themselves included: a file that came and went moves their times. */
export function traceOf(top: string, counts: (path: string) => boolean = () => true): Trace {
  const trace = new Map<string, string>();
  const visit = (path: string): void => {
    const name = relative(top, path);
    if (!counts(name)) return;
    const stats = lstatSync(path, { bigint: true });
    const { mode, uid, gid, ino, size, mtimeNs } = stats;
    trace.set(name, [mode.toString(8), uid, gid, ino, size, mtimeNs, contentOf(path, stats)].join(" "));
    if (stats.isDirectory()) for (const entry of readdirSync(path).sort()) visit(join(path, entry));
  };
  visit(top);
  return trace;
}

/** The paths that are not the same in both. */
export function differences(before: Trace, after: Trace): string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path)).sort();
}

function contentOf(path: string, stats: BigIntStats): string {
  if (stats.isFile()) return createHash("sha256").update(readFileSync(path)).digest("hex");
  return stats.isSymbolicLink() ? readlinkSync(path) : "";
}
