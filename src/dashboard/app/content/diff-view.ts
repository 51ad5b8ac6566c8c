import { readable, readableLine } from "../../../transcript/printable.ts";
import { type Child, h } from "../dom.ts";
import { copyButton } from "../parts/copy.ts";
import { bdi } from "../parts/words.ts";
import type { App } from "../view.ts";
import type { DiffLine, FileEdit } from "./changes.ts";
import { moreLabel, unfold } from "./long-text.ts";

/** How many lines of a file's diff are shown at first, and how many more with each press. */
const FIRST = 200;
const STEP = 1000;

/** What `edits` change, file by file, as lines that say what they are not by their colour alone. */
export function diffView(edits: readonly FileEdit[], app: Pick<App, "note">): HTMLElement {
  return h(
    "div",
    { class: "diffs" },
    edits.map((edit) => fileView(edit, app)),
  );
}

function fileView(edit: FileEdit, app: Pick<App, "note">): HTMLElement {
  const rows = edit.hunks.flatMap(({ heading, lines }, index): (DiffLine | string)[] => {
    const isApart = index > 0 || heading !== undefined;
    return isApart ? [heading ?? "", ...lines] : [...lines];
  });
  const digits = digitsOf(rows);
  const list = h("ol", { role: "list", class: "diff-lines" });
  if (digits > 0) list.style.setProperty("--numbers", `${2 * digits + 2}ch`);
  const more = unfold({
    length: rows.length,
    into: list,
    end: (from) => {
      const end = from + (from === 0 ? FIRST : STEP);
      return rows.length - end < FIRST / 10 ? rows.length : end;
    },
    render: (from, to) => rows.slice(from, to).map((row) => rowView(row, digits)),
    label: (from, to) => moreLabel(to - from, rows.length - from, "lines"),
  });
  return h(
    "figure",
    { class: "diff" },
    h(
      "figcaption",
      {},
      h("span", { class: "diff-path" }, bdi(edit.path), edit.to !== undefined && [" → ", bdi(edit.to)]),
      h(
        "span",
        { class: "quiet" },
        [WORDS[edit.kind], edit.note && readableLine(edit.note)].filter(Boolean).join(", "),
      ),
      h("span", { class: "diff-count" }, countView("added", "+", edit.added), countView("removed", "−", edit.removed)),
      copyButton(app, "Copy path", "Path", () => edit.to ?? edit.path),
    ),
    rows.length > 0 ? list : h("p", { class: "quiet" }, NOTHING[edit.kind]),
    more,
  );
}

const WORDS: Readonly<Record<FileEdit["kind"], string>> = {
  edit: "",
  write: "written",
  add: "new file",
  delete: "deleted",
  move: "moved",
};

/** What is said where no line is told. */
const NOTHING: Readonly<Record<FileEdit["kind"], string>> = {
  edit: "No line is changed.",
  write: "Nothing is written: the file is empty.",
  add: "The file is empty.",
  delete: "What it held is not told.",
  move: "No line is changed.",
};

function countView(kind: "added" | "removed", sign: string, count: number): Child {
  return count > 0 && h("span", { class: kind }, `${sign}${count}`, h("span", { class: "hidden" }, ` ${kind}`));
}

/** How many digits the highest number has; 0 when the lines have none. */
function digitsOf(rows: readonly (DiffLine | string)[]): number {
  const last = rows.at(-1);
  const numbers = typeof last === "object" ? [last.old, last.new] : [];
  return Math.max(0, ...numbers.map((number) => (number === undefined ? 0 : String(number).length)));
}

function numberOf(number: number | undefined, digits: number): string {
  return String(number ?? "").padStart(digits);
}

/** A line; its numbers and its sign stand before it as what the style puts there, so that they are not copied with it. */
function rowView(row: DiffLine | string, digits: number): Node {
  if (typeof row === "string") return h("li", { class: "hunk" }, row === "" ? "⋯" : readableLine(row));
  const text = row.kind === "same" ? row.text.replace(/\r+$/, "") : row.text;
  const attributes = {
    class: row.kind === "same" ? undefined : row.kind,
    "data-n": digits > 0 && `${numberOf(row.old, digits)} ${numberOf(row.new, digits)} `,
    "data-open": row.noNewline && row.kind !== "same",
  };
  if (row.mark === undefined) return h("li", attributes, shown(text));
  const [from, to] = row.mark;
  return h(
    "li",
    attributes,
    shown(text.slice(0, from)),
    h("mark", {}, shown(text.slice(from, to))),
    shown(text.slice(to)),
  );
}

/** What is seen of a piece of a line; a carriage return that a change is about is seen too. */
function shown(text: string): string {
  return readable(text.replaceAll("\r", "␍"));
}
