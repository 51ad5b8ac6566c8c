// What is asked for only when it is used: what the oldest Node that gets as far as the version check does not have, and what
// is slow to load.

import type * as Http from "node:http";
import type * as Sqlite from "node:sqlite";
import type * as Zlib from "node:zlib";
import { Failure } from "./failure.ts";

/** `node:sqlite`. @throws Failure failed: this Node.js was built without SQLite. */
export function sqlite(): typeof Sqlite {
  const builtin = process.getBuiltinModule("node:sqlite");
  if (builtin === undefined) {
    throw new Failure("failed", "this Node.js was built without SQLite: install one from nodejs.org");
  }
  return builtin;
}

/**
 * `node:http`. To import it is to read all that it exports, and some of that loads the whole of undici: a quarter of the time
 * to a first answer, of commands that need no HTTP too (Node.js 22.15 to 26).
 */
export function http(): typeof Http {
  return process.getBuiltinModule("node:http");
}

/** `node:zlib`. */
export function zlib(): typeof Zlib {
  return process.getBuiltinModule("node:zlib");
}

/** What reads zstd frames. */
export type Zstd = Pick<typeof Zlib, "zstdDecompressSync" | "createZstdDecompress">;

/** The zstd part of `node:zlib` (Node.js 22.15). */
export function zstd(): Zstd {
  return zlib();
}

/**
 * Drops the warning that SQLite is experimental, which Node.js 22 prints when it is first used, and no other. Called once
 * when the process (or a worker, which has its own warnings) starts.
 */
export function dropSqliteWarning(): void {
  const emitWarning = process.emitWarning as (...args: unknown[]) => void;
  process.emitWarning = (...args: unknown[]): void => {
    if (!isSqliteWarning(args[0], args[1])) emitWarning.apply(process, args);
  };
}

/** Warnings come as a text with a type (or options that hold it), or as an error of that name. */
function isSqliteWarning(warning: unknown, kind: unknown): boolean {
  const { message, name } = warning instanceof Error ? warning : { message: warning, name: typeOf(kind) };
  return (
    name === "ExperimentalWarning" && typeof message === "string" && message.startsWith("SQLite is an experimental")
  );
}

function typeOf(kind: unknown): unknown {
  return typeof kind === "object" && kind !== null && "type" in kind ? kind.type : kind;
}
