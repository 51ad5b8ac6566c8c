import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { readRange } from "../../jsonl/source.ts";
import { Failure } from "../../platform/failure.ts";
import { isWithin, withFile } from "../../platform/files.ts";
import { asObject, asText, type JsonObject } from "../../platform/read.ts";
import type { Entry } from "../../transcript/entry.ts";
import { UNCUT_BYTES } from "../../transcript/limits.ts";
import { type ClaudePlace, sideFoldersOf } from "./place.ts";
import { withoutAnsi } from "./user-text.ts";

/** A result that was too large for the transcript: its text says where the rest is (2.1.332). */
const PERSISTED = /^<persisted-output>\n[^\n]*Full output saved to: ([^\n]+)/;

/**
 * `entries` of `record` with the whole output in the place of what the transcript keeps of it. The path that is written
 * there goes stale when a session moves and could lead anywhere, so only its last part counts, in the session's own
 * `tool-results` folder. At most a little more than 1 MiB is read; without the file the entry stays as it is.
 */
export async function withPersistedOutput(
  place: ClaudePlace,
  record: JsonObject | undefined,
  entries: readonly Entry[],
): Promise<readonly Entry[]> {
  return Promise.all(
    entries.map(async (entry) => {
      if (entry.kind !== "tool-result" || !entry.text.startsWith("<persisted-output>")) return entry;
      const path = asText(asObject(record?.toolUseResult)?.persistedOutputPath) ?? PERSISTED.exec(entry.text)?.[1];
      const output = path === undefined ? undefined : await outputNamed(place, lastPart(path));
      return output === undefined ? entry : { ...entry, text: output };
    }),
  );
}

async function outputNamed(place: ClaudePlace, name: string): Promise<string | undefined> {
  if (!/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/.test(name)) return undefined;
  for (const sideFolder of sideFoldersOf(place)) {
    const output = await outputIn(place, sideFolder, name);
    if (output !== undefined) return output;
  }
  return undefined;
}

async function outputIn({ root }: ClaudePlace, sideFolder: string, name: string): Promise<string | undefined> {
  try {
    const folder = join(realpathSync.native(dirname(sideFolder)), basename(sideFolder), "tool-results");
    if (!isWithin(root, folder)) return undefined;
    return await withFile(folder, join(folder, name), (file) =>
      withoutAnsi(readRange(file, 0, Math.min(file.size, UNCUT_BYTES + 64)).toString()),
    );
  } catch (error) {
    if (error instanceof Failure || (error instanceof Error && "code" in error)) return undefined;
    throw error;
  }
}

/** The last part of a path of any system. */
function lastPart(path: string): string {
  return path.trim().split(/[\\/]/).at(-1) ?? "";
}
