import { asArray, asObject, asString, asText, type JsonObject } from "../../../platform/read.ts";
import type { UncutItem } from "../wire.ts";
import { type FileEdit, fileEdit, type Hunk } from "./changes.ts";
import { diffHunks } from "./diff.ts";
import { envelopeEdits, unifiedEdits } from "./patch.ts";

/**
 * What a call of `tool` does to files, by its input (in the shape of any agent) or by what the agent told of it; undefined
 * when it changes none, or in a way that is not known.
 */
export function editsOf(tool: string, input: unknown, diffs?: UncutItem["diffs"]): FileEdit[] | undefined {
  if (diffs !== undefined && diffs.length > 0) return diffs.map(toldEdit);
  const patch = patchText(tool, input);
  const patched = patch === undefined ? undefined : (envelopeEdits(patch) ?? unifiedEdits(patch));
  if (patched !== undefined) return patched;
  const fields = asObject(input);
  if (fields === undefined) return undefined;
  return changesOf(fields) ?? pathEdits(tool, fields);
}

/** The command of `input` when it does more than put the patch that it holds into place. */
export function commandBeyondPatch(input: unknown): string | undefined {
  const command = commandOf(input);
  return command === undefined || ALONE.test(command) ? undefined : command;
}

/** The command line that `input` runs, as it would be typed; undefined when it runs none. */
export function commandOf(input: unknown): string | undefined {
  const fields = asObject(input);
  const command = fields?.command ?? fields?.cmd ?? fields?.script;
  const words = asArray(command)?.map((word) => asString(word) ?? JSON.stringify(word));
  if (words === undefined) return asText(command);
  const [shell = "", flag = "", script] = words;
  const isShell = words.length === 3 && /(^|\/)(ba|z|da)?sh$/.test(shell) && /^-l?c$/.test(flag);
  return isShell ? script : words.join(" ");
}

const ALONE =
  /^apply_patch \*\*\* Begin Patch|^\s*(?:cd [^\n;&|]+ && )?apply_patch\s+<<-?\s*(['"]?)(\w+)\1\n[\s\S]*\n\2\s*$/;

function toldEdit({ path, oldText, newText }: NonNullable<UncutItem["diffs"]>[number]): FileEdit {
  const isNew = oldText === undefined || oldText === null;
  // What was there before may be the whole file or a part of it: then its lines have no numbers.
  return isNew ? written(path, "add", newText) : changed(path, [[oldText, newText]]);
}

function written(path: string, kind: "add" | "write", text: string): FileEdit {
  return fileEdit({ path, kind, hunks: diffHunks("", text, true) });
}

/** An edit by texts that were put in the place of others. */
function changed(path: string, pairs: readonly (readonly [string, string])[], note?: string): FileEdit {
  const hunks = pairs.flatMap(([before, after]) => diffHunks(wholeLines(before), wholeLines(after), false));
  return fileEdit({ path, kind: "edit", note, hunks });
}

/** A piece of a file as lines: whether its last one goes on is not known. */
function wholeLines(text: string): string {
  const lines = text.replaceAll("\r\n", "\n");
  return lines === "" || lines.endsWith("\n") ? lines : `${lines}\n`;
}

/** The text of a patch, wherever the input holds it. */
function patchText(tool: string, input: unknown): string | undefined {
  const fields = asObject(input);
  const [program, argument] = asArray(fields?.command) ?? [];
  const own = program === "apply_patch" ? argument : undefined;
  const direct = [asString(input), own, fields?.patchText, fields?.patch, fields?.input, fields?.diff]
    .map(asText)
    .find((text) => text !== undefined && /^(?:\*\*\* Begin Patch|@@ -|--- |diff --git )/m.test(text));
  if (direct !== undefined && (fields !== undefined || /patch|edit/i.test(tool))) return direct;
  const command = commandOf(input);
  return command !== undefined && /\bapply_patch\b|^\*\*\* Begin Patch/.test(command) ? command : undefined;
}

/** Codex over ACP: `changes` by path. */
function changesOf(fields: JsonObject): FileEdit[] | undefined {
  const changes = asObject(fields.changes);
  if (changes === undefined) return undefined;
  const edits = Object.entries(changes).flatMap(([path, value]): FileEdit[] => {
    const change = asObject(value);
    const content = asString(change?.content);
    const to = asText(change?.move_path);
    if (change?.type === "add" && content !== undefined) return [written(path, "add", content)];
    if (change?.type === "delete") return [fileEdit({ path, kind: "delete", hunks: deleted(content ?? "") })];
    const [edit] = unifiedEdits(asString(change?.unified_diff) ?? "", path) ?? [];
    if (edit === undefined && to === undefined) return [];
    return [fileEdit({ path, kind: to === undefined ? "edit" : "move", to, hunks: edit?.hunks ?? [] })];
  });
  return edits.length === 0 ? undefined : edits;
}

function deleted(text: string): Hunk[] {
  return diffHunks(text, "", true);
}

/** An edit of the file that `fields` name, in the words of Claude, OpenCode, Hermes and their like. */
function pathEdits(tool: string, fields: JsonObject): FileEdit[] | undefined {
  const path = firstText(fields, ["file_path", "filePath", "notebook_path", "path"]);
  if (path === undefined) return undefined;
  const pairs = (asArray(fields.edits) ?? [fields]).flatMap((edit) => pairsOf(asObject(edit)));
  if (pairs.length > 0) return [changed(path, pairs, noteOf(fields))];
  const source = asString(fields.new_source);
  if (source !== undefined) return [cellEdit(path, fields, source)];
  const content = asString(fields.content) ?? asString(fields.file_text);
  const isWrite = fields.file_text !== undefined || Object.keys(fields).length === 2 || /write|create|save/i.test(tool);
  return content !== undefined && isWrite ? [written(path, "write", content)] : undefined;
}

function pairsOf(edit: JsonObject | undefined): (readonly [string, string])[] {
  const before = edit?.old_string ?? edit?.oldString ?? edit?.old_str ?? edit?.oldText;
  const after = edit?.new_string ?? edit?.newString ?? edit?.new_str ?? edit?.newText;
  if (typeof before !== "string" && typeof after !== "string") return [];
  return [[asString(before) ?? "", asString(after) ?? ""]];
}

function noteOf(fields: JsonObject): string | undefined {
  const all = [fields, ...(asArray(fields.edits) ?? []).map(asObject)];
  return all.some((edit) => edit?.replace_all === true || edit?.replaceAll === true) ? "every occurrence" : undefined;
}

function cellEdit(path: string, fields: JsonObject, source: string): FileEdit {
  const cell = asText(fields.cell_id);
  const mode = asText(fields.edit_mode) ?? "replace";
  const note = [mode === "replace" ? "new text of a cell" : `${mode} a cell`, cell].filter(Boolean).join(" ");
  return fileEdit({
    path,
    kind: "edit",
    note,
    hunks: mode === "delete" ? [] : diffHunks("", wholeLines(source), false),
  });
}

function firstText(fields: JsonObject, names: readonly string[]): string | undefined {
  return names.map((name) => asText(fields[name])).find((text) => text !== undefined);
}
