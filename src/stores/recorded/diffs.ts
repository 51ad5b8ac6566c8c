import { asArray, asObject, asString, asText, type JsonObject } from "../../platform/read.ts";
import type { FileDiff } from "../../transcript/entry.ts";

/**
 * The changes of files that a `tool-result` record tells: in a field of their own beside what the tool gave back, else in
 * that, as our recorder keeps them (one, or in a list beside texts) or as ACP writes them (`content` blocks).
 */
export function diffsOf({ diffs, result }: JsonObject): readonly FileDiff[] {
  const told = asArray(diffs) ?? asArray(result) ?? asArray(asObject(result)?.content) ?? [result];
  return told.flatMap((part) => diffOf(part) ?? []);
}

function diffOf(part: unknown): FileDiff | undefined {
  const fields = asObject(part);
  const path = asText(fields?.path);
  const newText = asString(fields?.newText);
  if (path === undefined || newText === undefined) return undefined;
  return { path, oldText: asString(fields?.oldText) ?? null, newText };
}
