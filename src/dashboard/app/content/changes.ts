/** A line of a change. */
export interface DiffLine {
  readonly kind: "same" | "added" | "removed";
  /** Without its newline. */
  readonly text: string;
  /** Its numbers in the old and in the new text, from 1, where they are known. */
  readonly old?: number;
  readonly new?: number;
  /** The part of it that changed, from and to before, when it stands for another line. */
  readonly mark?: readonly [from: number, to: number];
  /** It is the last one of its text, and no newline ends it. */
  readonly noNewline?: true;
}

/** Lines that changed, with some around them. */
export interface Hunk {
  /** Where in the file it stands, in the words of who made the patch. */
  readonly heading?: string;
  readonly lines: readonly DiffLine[];
}

/** What an agent did to a file. */
export interface FileEdit {
  readonly path: string;
  /** `write` puts a whole text in the place of whatever the file held, which is not known. */
  readonly kind: "edit" | "write" | "add" | "delete" | "move";
  /** Where the file was moved to. */
  readonly to?: string;
  /** What else there is to know of it. */
  readonly note?: string;
  readonly hunks: readonly Hunk[];
  /** How many lines were added and removed. */
  readonly added: number;
  readonly removed: number;
}

/** An edit of a file, its lines counted. */
export function fileEdit(edit: Omit<FileEdit, "added" | "removed">): FileEdit {
  const count = (kind: DiffLine["kind"]): number =>
    edit.hunks.reduce((total, { lines }) => total + lines.filter((line) => line.kind === kind).length, 0);
  return { ...edit, added: count("added"), removed: count("removed") };
}
