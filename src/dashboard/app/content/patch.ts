import { type DiffLine, type FileEdit, fileEdit, type Hunk } from "./changes.ts";
import { withMarks } from "./marks.ts";

const BEGIN = /^\*\*\* Begin Patch\s*$/m;

/** What the first `*** Begin Patch` text in `text` does to files; undefined when there is none. */
export function envelopeEdits(text: string): FileEdit[] | undefined {
  const begin = BEGIN.exec(text);
  if (begin === null) return undefined;
  const sections: { kind: "add" | "edit" | "delete"; path: string; to?: string; lines: string[] }[] = [];
  for (const line of text.slice(begin.index + begin[0].length).split(/\r?\n/)) {
    const [, action, path] = /^\*\*\* (Add File|Update File|Delete File|Move to): (.+?)\s*$/.exec(line) ?? [];
    const last = sections.at(-1);
    if (/^\*\*\* End Patch\s*$/.test(line)) break;
    if (path === undefined) last?.lines.push(line);
    else if (action !== "Move to") sections.push({ kind: KINDS[action ?? ""] ?? "edit", path, lines: [] });
    else if (last !== undefined) last.to = path;
  }
  if (sections.length === 0) return undefined;
  return sections.map(({ kind, path, to, lines }) => {
    const hunks = kind === "edit" ? looseHunks(lines) : kind === "add" ? [addedHunk(lines)] : [];
    return fileEdit({ path, kind: to === undefined ? kind : "move", to, hunks });
  });
}

const KINDS: Readonly<Record<string, "add" | "edit" | "delete">> = { "Add File": "add", "Delete File": "delete" };

function addedHunk(lines: readonly string[]): Hunk {
  const added = lines.filter((line) => line.startsWith("+"));
  return { lines: added.map((line, index): DiffLine => ({ kind: "added", text: line.slice(1), new: index + 1 })) };
}

/** Hunks that begin with `@@` and whose lines have no numbers. */
function looseHunks(lines: readonly string[]): Hunk[] {
  const hunks: { heading?: string; lines: DiffLine[] }[] = [];
  for (const line of trimmed(lines.filter((one) => !one.startsWith("*** ")))) {
    if (line.startsWith("@@")) {
      const heading = line.replace(/^@@\s*|\s*@@$/g, "");
      hunks.push(heading === "" ? { lines: [] } : { heading, lines: [] });
    } else {
      if (hunks.length === 0) hunks.push({ lines: [] });
      hunks.at(-1)?.lines.push(lineOf(line));
    }
  }
  return hunks.filter((hunk) => hunk.lines.length > 0).map((hunk) => ({ ...hunk, lines: marked(hunk.lines) }));
}

/** `lines` without the empty ones at their end, which only part the sections. */
function trimmed(lines: readonly string[]): readonly string[] {
  return lines.slice(0, lines.findLastIndex((line) => line !== "") + 1);
}

function lineOf(line: string): DiffLine {
  const kind = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "same";
  return { kind, text: kind === "same" && !line.startsWith(" ") ? line : line.slice(1) };
}

/** `lines` with the marks within each run of changed ones. */
function marked(lines: readonly DiffLine[]): DiffLine[] {
  const runs: (readonly DiffLine[])[] = [];
  let changed: DiffLine[] = [];
  for (const line of lines) {
    if (line.kind !== "same") changed.push(line);
    else {
      runs.push(withMarks(changed), [line]);
      changed = [];
    }
  }
  return [...runs, withMarks(changed)].flat();
}

/** What a unified diff does to files; `path` is what a diff changes that names no file. undefined when it is no diff. */
export function unifiedEdits(text: string, path?: string): FileEdit[] | undefined {
  const reader = new UnifiedReader(path);
  for (const line of text.split(/\r?\n/)) reader.add(line);
  const edits = reader.edits();
  return edits.length === 0 ? undefined : edits;
}

interface OpenFile {
  from?: string;
  to?: string;
  /** How it was said to be changed other than by lines. */
  kind?: "add" | "delete" | "move";
  readonly hunks: { heading?: string; lines: DiffLine[] }[];
}

class UnifiedReader {
  readonly #files: OpenFile[] = [];
  /** How many lines of the old and of the new text the open hunk still has, and the numbers of the next ones. */
  #left: [number, number] = [0, 0];
  #next: [number, number] = [1, 1];
  readonly #path: string | undefined;

  constructor(path: string | undefined) {
    this.#path = path;
  }

  add(line: string): void {
    if (this.#left[0] > 0 || this.#left[1] > 0) this.#addToHunk(line);
    else this.#addHeader(line);
  }

  edits(): FileEdit[] {
    return this.#files.flatMap(({ from, to, kind, hunks }) => {
      const path = to ?? from ?? this.#path;
      if (path === undefined || (hunks.length === 0 && kind === undefined)) return [];
      const marks = hunks.map((hunk) => ({ ...hunk, lines: marked(hunk.lines) }));
      if (kind !== "move" || from === undefined) return [fileEdit({ path, kind: kind ?? "edit", hunks: marks })];
      return [fileEdit({ path: from, kind, to: path, hunks: marks })];
    });
  }

  #addHeader(line: string): void {
    const [, oldFrom, oldCount, newFrom, newCount, heading] = HUNK.exec(line) ?? [];
    if (oldFrom !== undefined) {
      this.#next = [Number(oldFrom), Number(newFrom)];
      this.#left = [Number(oldCount ?? 1), Number(newCount ?? 1)];
      const file = this.#files.at(-1) ?? this.#begin();
      file.hunks.push(heading ? { heading, lines: [] } : { lines: [] });
      return;
    }
    const [, key, value = ""] = HEADER.exec(line) ?? [];
    const last = this.#files.at(-1);
    switch (key) {
      case "diff --git":
        this.#begin().to = /^a\/(.+) b\/\1$/.exec(value)?.[1];
        return;
      case "new file mode":
      case "deleted file mode":
        if (last !== undefined) last.kind = key === "new file mode" ? "add" : "delete";
        return;
      case "---":
        this.#old(last === undefined || last.hunks.length > 0 || last.from !== undefined ? this.#begin() : last, value);
        return;
      case "+++":
        if (last !== undefined) this.#new(last, value);
        return;
      case "rename from":
      case "rename to":
        if (last === undefined) return;
        last.kind = "move";
        last[key === "rename from" ? "from" : "to"] = value;
        return;
      case "\\":
        this.#endsWithout(last);
    }
  }

  #begin(): OpenFile {
    const file: OpenFile = { hunks: [] };
    this.#files.push(file);
    return file;
  }

  #old(file: OpenFile, value: string): void {
    const path = pathOf(value, "a/");
    if (path === undefined) file.kind = "add";
    else file.from = path;
  }

  #new(file: OpenFile, value: string): void {
    const path = pathOf(value, "b/");
    if (path === undefined) file.kind = "delete";
    else file.to = path;
  }

  #addToHunk(line: string): void {
    if (line.startsWith("\\")) {
      this.#endsWithout(this.#files.at(-1));
      return;
    }
    const { kind, text } = lineOf(line);
    const numbers = {
      ...(kind !== "added" && { old: this.#next[0]++ }),
      ...(kind !== "removed" && { new: this.#next[1]++ }),
    };
    if (kind !== "added") this.#left[0]--;
    if (kind !== "removed") this.#left[1]--;
    this.#files
      .at(-1)
      ?.hunks.at(-1)
      ?.lines.push({ kind, text, ...numbers });
  }

  #endsWithout(file: OpenFile | undefined): void {
    const lines = file?.hunks.at(-1)?.lines;
    const last = lines?.pop();
    if (last !== undefined) lines?.push({ ...last, noNewline: true });
  }
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;
const HEADER = /^(diff --git|---|\+\+\+|rename from|rename to|new file mode|deleted file mode|\\) (.*)$/;

/** The path that a header names, without what git puts before it and without a time; undefined for no file. */
function pathOf(value: string, prefix: string): string | undefined {
  const path = value.replace(/\t.*$/, "").trim();
  if (path === "/dev/null") return undefined;
  return path.startsWith(prefix) ? path.slice(2) : path;
}
