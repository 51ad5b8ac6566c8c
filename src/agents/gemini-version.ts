import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { asObject, asString, parseJson } from "../platform/read.ts";

/**
 * What the Gemini CLI at `path` must be told to speak ACP: before its version 0.33 the option still was
 * `--experimental-acp`. A version that can't be made out is taken for a newer one.
 */
export function geminiArguments(path: string): readonly string[] {
  const [, major, minor] = /^(\d+)\.(\d+)\./.exec(packageVersion(path) ?? "") ?? [];
  return [major === "0" && Number(minor) < 33 ? "--experimental-acp" : "--acp"];
}

/** How far above the program the package's own file is looked for: folders. */
const MOST_LEVELS = 6;

/** The version of the npm package that the program belongs to. */
function packageVersion(path: string): string | undefined {
  let folder: string;
  try {
    folder = dirname(realpathSync(path));
  } catch {
    return undefined;
  }
  for (let level = 0; level < MOST_LEVELS; level++, folder = dirname(folder)) {
    const fields = jsonFile(join(folder, "package.json"));
    if (fields?.name === "@google/gemini-cli") return asString(fields.version);
  }
  return undefined;
}

function jsonFile(path: string): ReturnType<typeof asObject> {
  try {
    return asObject(parseJson(readFileSync(path, "utf8")));
  } catch {
    return undefined;
  }
}
