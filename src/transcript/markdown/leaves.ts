import { unescaped } from "./entities.ts";
import { readInlines } from "./inlines.ts";
import type { Line } from "./line.ts";
import { References } from "./references.ts";
import { readAlign, splitRow } from "./table.ts";
import type { Block, Heading, Inline, ListItem, Table } from "./tree.ts";

/** The block that takes lines of text, inside of everything that is open. */
export type Leaf =
  | { kind: "paragraph"; lines: string[]; into: Block[]; task?: ListItem }
  | { kind: "indented"; lines: string[]; into: Block[] }
  | { kind: "fence"; lines: string[]; into: Block[]; fence: string; indent: number; language: string }
  | { kind: "table"; table: Table };

/** The blocks that hold no others. What stands within their lines is read at the end, when all definitions are known. */
export class Leaves {
  /** The one that takes lines now. */
  open: Leaf | undefined;
  readonly #references: References;
  readonly #later: { text: string; into: Inline[] }[] = [];

  constructor(length: number) {
    this.#references = new References(length);
  }

  /** Ends the leaf that is open, if one is. */
  close(): void {
    const leaf = this.open;
    this.open = undefined;
    if (leaf === undefined || leaf.kind === "table") return;
    const { lines, into } = leaf;
    if (leaf.kind === "paragraph") {
      let text = this.#references.takeFrom(lines.join("\n"));
      const task = leaf.task && /^\[([ xX])\]\s+(?=\S)/.exec(text);
      if (leaf.task && task) {
        leaf.task.checked = task[1] !== " ";
        text = text.slice(task[0].length);
      }
      if (text !== "") into.push({ type: "paragraph", children: this.#inlines(text) });
      return;
    }
    if (leaf.kind === "indented") while (lines.at(-1)?.trim() === "") lines.pop();
    into.push({
      type: "code",
      language: leaf.kind === "fence" ? leaf.language : "",
      text: lines.map((line) => `${line}\n`).join(""),
    });
  }

  /** Ends everything, and reads what stands within the lines. */
  end(): void {
    this.close();
    for (const { text, into } of this.#later)
      for (const inline of readInlines(text, this.#references)) into.push(inline);
  }

  /** Gives a line to the leaf that is open when it takes whatever comes: code. True if it did. */
  takeCode(line: Line): boolean {
    const leaf = this.open;
    if (leaf?.kind === "fence") {
      const end = line.indent < 4 ? /^(`{3,}|~{3,})[ \t]*$/.exec(line.content)?.[1] : undefined;
      if (end?.startsWith(leaf.fence)) this.close();
      else {
        line.take(Math.min(leaf.indent, line.indent));
        leaf.lines.push(line.rest);
      }
      return true;
    }
    if (leaf?.kind !== "indented" || (line.indent < 4 && !line.blank)) return false;
    line.take(4);
    leaf.lines.push(line.rest);
    return true;
  }

  /** Whether `line` makes more of the paragraph that is open: a heading of it, or a table's head of its last line. */
  endParagraph(line: string): boolean {
    const leaf = this.open;
    if (leaf?.kind !== "paragraph") return false;
    const align = readAlign(line);
    const head = leaf.lines.at(-1) ?? "";
    if (align !== undefined && head.includes("|")) {
      const cells = splitRow(head, align.length + 1);
      if (cells.length === align.length) {
        leaf.lines.pop();
        this.close();
        const table: Table = { type: "table", align, head: this.#cells(cells), rows: [] };
        leaf.into.push(table);
        this.open = { kind: "table", table };
        return true;
      }
    }
    if (!/^(?:=+|-+)[ \t]*$/.test(line)) return false;
    const text = this.#references.takeFrom(leaf.lines.join("\n"));
    if (text !== "") this.#heading(leaf.into, line.startsWith("=") ? 1 : 2, text);
    this.open = undefined;
    return text !== "";
  }

  /** Reads a heading from `line`, if it is one. */
  startHeading(line: string, into: () => Block[]): boolean {
    const marks = /^(#{1,6})(?:[ \t]|$)/.exec(line)?.[1];
    if (marks === undefined) return false;
    const text = line.slice(marks.length).trim();
    let end = text.length;
    while (text[end - 1] === "#") end--;
    const closed = end === 0 || " \t".includes(text.charAt(end - 1));
    this.#heading(into(), marks.length, closed ? text.slice(0, end) : text);
    return true;
  }

  /** Opens a block of code, if `line` begins one with a fence. */
  startFence(line: Line, into: () => Block[]): boolean {
    const [, fence, info] = /^(`{3,}|~{3,})(.*)$/.exec(line.content) ?? [];
    if (fence === undefined || info === undefined || (fence.startsWith("`") && info.includes("`"))) return false;
    const language = unescaped(info.trim().split(/\s/, 1)[0] ?? "");
    const { indent } = line;
    this.open = { kind: "fence", into: into(), lines: [], fence, indent, language };
    return true;
  }

  /** Adds a row to the table that is open. */
  addRow(table: Table, line: string): void {
    table.rows.push(this.#cells(splitRow(line, table.align.length)));
  }

  #heading(into: Block[], level: number, text: string): void {
    into.push({ type: "heading", level: level as Heading["level"], children: this.#inlines(text) });
  }

  #cells(cells: string[]): Inline[][] {
    return cells.map((cell) => this.#inlines(cell));
  }

  #inlines(text: string): Inline[] {
    const into: Inline[] = [];
    this.#later.push({ text: text.trim(), into });
    return into;
  }
}
