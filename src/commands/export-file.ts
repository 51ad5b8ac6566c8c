import { lstatSync, type Stats, statSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import type { ExportDocument } from "../export/document.ts";
import { errorCode, Failure } from "../platform/failure.ts";
import { writeWhole } from "../platform/whole-file.ts";

/** A file that an export goes to: as it was named, or in a folder that was. */
export interface ExportTarget {
  readonly given: string;
  /** Takes the place of a file that is there. */
  readonly replace: boolean;
}

/** Refuses, before anything is read, what can't become an export. @throws Failure usage */
export function checkTarget({ given, replace }: ExportTarget): void {
  if (isFolder(given)) requireFolder(given);
  else {
    requireFolder(dirname(given));
    requireFree(given, replace);
  }
}

/**
 * Writes `document` to its file, whole or not at all; gives the file's path.
 * @throws Failure usage: something is there already · failed: it can't be written, or the signal aborted
 */
export async function writeExport(
  { given, replace }: ExportTarget,
  document: Pick<ExportDocument, "fileName" | "bytes">,
  signal: AbortSignal,
): Promise<string> {
  const path = isFolder(given) ? join(given, document.fileName) : given;
  requireFree(path, replace);
  try {
    await writeWhole(path, document.bytes(), { replace, signal });
  } catch (error) {
    if (signal.aborted) throw new Failure("failed", `interrupted: ${path} was not written`, error);
    throw unwritable(path, error);
  }
  return path;
}

/** The folder that it is written in. */
export function targetFolder({ given }: ExportTarget): string {
  return isFolder(given) ? given : dirname(given);
}

function isFolder(path: string): boolean {
  return path.endsWith("/") || path.endsWith(sep) || whatIs(path, statSync)?.isDirectory() === true;
}

function requireFolder(path: string): void {
  if (whatIs(path, statSync)?.isDirectory() !== true) throw noFolder(path);
}

/** Writing it refuses what has come to be there since; this also keeps pipes and devices from being replaced. */
function requireFree(path: string, replace: boolean): void {
  if (whatIs(path, lstatSync) === undefined) return;
  if (!replace) throw isThere(path);
  const stats = whatIs(path, statSync);
  if (stats !== undefined && !stats.isFile()) {
    throw new Failure("usage", `${path} is no file, so it can't be replaced: leave -o out and use > to write into it`);
  }
}

function whatIs(path: string, ask: typeof statSync): Stats | undefined {
  try {
    return ask(path);
  } catch (error) {
    // What else may be wrong with it, writing tells.
    if (errorCode(error) !== undefined) return undefined;
    throw error;
  }
}

function unwritable(path: string, error: unknown): unknown {
  const code = errorCode(error);
  switch (code) {
    case undefined:
      return error;
    case "EEXIST":
      return isThere(path);
    case "ENOENT":
    case "ENOTDIR":
      return noFolder(dirname(path));
    case "ENOSPC":
    case "EDQUOT":
      return new Failure("failed", `${path} can't be written: there is no space left on its disk`, error);
    default:
      return new Failure(
        "failed",
        `${path} can't be written (${code}): see to its name and its folder's permissions`,
        error,
      );
  }
}

function isThere(path: string): Failure {
  return new Failure("usage", `${path} is there already: give another name, or --force to replace it`);
}

function noFolder(path: string): Failure {
  return new Failure("usage", `there is no folder ${path}: make it first, or give another`);
}
