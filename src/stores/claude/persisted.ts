import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { readRange } from "../../jsonl/source.ts";
import { Failure } from "../../platform/failure.ts";
import { isWithin, withFile } from "../../platform/files.ts";
import { asObject, asText, type JsonObject } from "../../platform/read.ts";
import type { Entry } from "../../transcript/entry.ts";
import { UNCUT_BYTES } from "../../transcript/limits.ts";
import { type ClaudePlace, sideFoldersOf } from "./place.ts";

/** Where the whole is, as the text of such a result says. */
const SAVED_TO = /^[^\n]*\n[^\n]*Full output saved to: ([^\n]+)/;

/**
 * `entries` of `record` with the whole output in the place of what the transcript keeps of it. The path that is written
 * there goes stale when a session moves and could lead anywhere, so only its last part counts, in the session's own
 * `tool-results` folder. It is read up to `mostBytes`, an output that is longer not at all; when that is left out, the
 * first 1 MiB (and a little) of any. Without the file the entry stays as it is.
 */
export async function withPersistedOutput(
  place: ClaudePlace,
  record: JsonObject | undefined,
  entries: readonly Entry[],
  mostBytes: number | undefined,
): Promise<readonly Entry[]> {
  return Promise.all(
    entries.map(async (entry) => {
      if (entry.kind !== "tool-result" || !entry.isPreview) return entry;
      const path = asText(asObject(record?.toolUseResult)?.persistedOutputPath) ?? SAVED_TO.exec(entry.text)?.[1];
      const output = path === undefined ? undefined : await outputNamed(place, lastPart(path), mostBytes);
      const { isPreview: _, ...rest } = entry;
      return output === undefined ? entry : { ...rest, text: output };
    }),
  );
}

async function outputNamed(
  place: ClaudePlace,
  name: string,
  mostBytes: number | undefined,
): Promise<string | undefined> {
  if (!/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/.test(name)) return undefined;
  for (const sideFolder of sideFoldersOf(place)) {
    const output = await outputIn(place, sideFolder, name, mostBytes);
    if (output !== undefined) return output;
  }
  return undefined;
}

async function outputIn(
  { root }: ClaudePlace,
  sideFolder: string,
  name: string,
  mostBytes: number | undefined,
): Promise<string | undefined> {
  try {
    const folder = join(realpathSync.native(dirname(sideFolder)), basename(sideFolder), "tool-results");
    if (!isWithin(root, folder)) return undefined;
    return await withFile(folder, join(folder, name), (file) => {
      if (mostBytes !== undefined && file.size > mostBytes) return undefined;
      return readRange(file, 0, Math.min(file.size, mostBytes ?? UNCUT_BYTES + 64)).toString();
    });
  } catch (error) {
    if (error instanceof Failure || (error instanceof Error && "code" in error)) return undefined;
    throw error;
  }
}

/** The last part of a path of any system. */
function lastPart(path: string): string {
  return path.trim().split(/[\\/]/).at(-1) ?? "";
}
