import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A run to be written into a home. */
export interface WrittenRun {
  /** Eight hex digits. */
  readonly id: string;
  /** ms since the epoch. */
  readonly at: number;
  readonly agent?: string;
  readonly title?: string;
  readonly prompt?: string;
  /** As its finish line says; undefined: it has none yet. */
  readonly outcome?: string;
  readonly archived?: boolean;
  /** What stands in its log between prompt and end. */
  readonly log?: string;
  readonly metadata?: object;
  /** When its log was last written, ms since the epoch; 90 s after `at` when absent. */
  readonly writtenAt?: number;
}

const INDENT = " ".repeat(9);

/** Writes the log and the metadata of a run. Its name. */
export function writeRun(home: string, run: WrittenRun): string {
  const { id, at, agent = "claude", title, prompt = `Prompt of ${id}`, archived, metadata } = run;
  const name = `${new Date(at).toISOString().slice(0, 19).replace(/[T:]/g, "-")}-${agent}-${id}`;
  const path = join(home, ".agent-bridge/runs", archived === true ? "archive" : "", name);
  const end = run.outcome === undefined ? "" : `${clock(at + 90_000)} finished after 90s · ${run.outcome}\n`;
  const head = `${clock(at)} ${agent} (model-x) in /srv/shop, access edit, by you\n${INDENT}${prompt.replaceAll("\n", `\n${INDENT}`)}\n${INDENT}---\n`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeAt(`${path}.log`, `${head}${clock(at + 1000)} started\n${run.log ?? ""}${end}`, run.writtenAt ?? at + 90_000);
  const told = { metadataVersion: 2, version: 2, by: "you", workdir: "/srv/shop", model: "model-x", title };
  writeAt(`${path}.json`, JSON.stringify({ ...told, ...metadata }), at);
  return name;
}

/** Where the log of a run is. */
export function logOf(home: string, name: string): string {
  return join(home, ".agent-bridge/runs", `${name}.log`);
}

/** Writes the jobs of a home. */
export function writeJobs(home: string, jobs: readonly object[]): void {
  mkdirSync(join(home, ".agent-bridge"), { recursive: true, mode: 0o700 });
  writeFileSync(join(home, ".agent-bridge/jobs.json"), JSON.stringify({ version: 2, jobs }), { mode: 0o600 });
}

/** An entry of a log that says `text`. */
export function entry(at: number, text: string): string {
  return `${clock(at)} ${text}\n`;
}

function clock(at: number): string {
  return new Date(at).toISOString().slice(11, 19);
}

function writeAt(path: string, text: string, at: number): void {
  writeFileSync(path, text, { mode: 0o600 });
  utimesSync(path, at / 1000, at / 1000);
}
