import { Leaves } from "./leaves.ts";
import { Line } from "./line.ts";
import { type Block, type List, type ListItem, MOST_DEPTH } from "./tree.ts";

/** What holds other blocks, and is still open. */
interface Container {
  children: Block[];
  /** Whether anything stood in it yet. */
  begun: boolean;
  /** The item it is, the list of that, and how far its lines are indented. */
  item?: { node: ListItem; of: List; width: number };
  /** The list that its last block is, and the character that marks the items of it. */
  list?: { node: List; mark: string };
}

/**
 * The blocks of a readable text. Each line is taken through the containers that are open, may then begin new ones, and
 * what is left of it belongs to a leaf.
 */
export function readBlocks(text: string): Block[] {
  const root: Container = { children: [], begun: false };
  const reader = new BlockReader(root, text.length);
  for (const line of text.replace(/\n$/, "").split("\n")) reader.read(new Line(line));
  reader.leaves.end();
  return root.children;
}

class BlockReader {
  readonly leaves: Leaves;
  /** What is open, from the outermost; the first holds everything, and those that are no items are quotes. */
  readonly #open: Container[];
  readonly #root: Container;
  /** When the last line was blank: the outermost container that saw it so. */
  #blankFrom = Number.POSITIVE_INFINITY;

  constructor(root: Container, length: number) {
    this.#root = root;
    this.#open = [root];
    this.leaves = new Leaves(length);
  }

  read(line: Line): void {
    let depth = 1;
    let quoted = 0;
    for (let container = this.#open[depth]; container !== undefined; container = this.#open[++depth]) {
      if (container.item === undefined) {
        if (!takeQuoteMark(line)) break;
        quoted = depth;
      } else if (line.blank ? container.begun : line.indent >= container.item.width) line.take(container.item.width);
      else break;
    }
    const whole = depth === this.#open.length;
    const inFence = this.leaves.open?.kind === "fence";
    const { blank } = line;
    if (whole && this.leaves.takeCode(line)) {
      if (inFence) quoted = Number.POSITIVE_INFINITY;
    } else if (blank) this.#close(depth);
    else this.#start(line, depth, whole);
    this.#blankFrom = blank ? quoted : Number.POSITIVE_INFINITY;
  }

  /** Begins what the line begins within the first `from` containers; `whole` when no others are open. */
  #start(line: Line, from: number, whole: boolean): void {
    const { leaves } = this;
    let depth = from;
    const into = () => this.#begin(depth).children;
    while (!line.blank) {
      const within = (whole || depth > from) && leaves.open?.kind === "paragraph";
      if (line.indent >= 4) {
        if (leaves.open?.kind === "paragraph") break;
        leaves.open = { kind: "indented", lines: [], into: into() };
        leaves.takeCode(line);
        return;
      }
      const { char, content } = line;
      if (within && leaves.endParagraph(content)) return;
      if (char === "#" && leaves.startHeading(content, into)) return;
      if ((char === "`" || char === "~") && leaves.startFence(line, into)) return;
      if (isRule(content)) {
        into().push({ type: "rule" });
        return;
      }
      if (depth > MOST_DEPTH || !(this.#startQuote(line, depth) || this.#startItem(line, depth, within))) break;
      depth++;
    }
    if (!line.blank) this.#addText(line.content, depth, whole || depth > from);
  }

  /** Text that begins nothing goes on with what is open, a paragraph even where the marks of its containers are missing. */
  #addText(text: string, depth: number, whole: boolean): void {
    const { open } = this.leaves;
    if (open?.kind === "paragraph") open.lines.push(text);
    else if (open?.kind === "table" && whole) this.leaves.addRow(open.table, text);
    else {
      const item = this.#open[depth - 1];
      const task = item?.begun ? undefined : item?.item?.node;
      this.leaves.open = { kind: "paragraph", lines: [text], into: this.#begin(depth).children, task };
    }
  }

  #startQuote(line: Line, depth: number): boolean {
    if (line.char !== ">") return false;
    const { children } = this.#begin(depth);
    takeQuoteMark(line);
    const quote: Container = { children: [], begun: false };
    children.push({ type: "quote", children: quote.children });
    this.#open.push(quote);
    return true;
  }

  /** Begins an item of a list. Within a paragraph only one that holds something, and no number but 1, is taken for one. */
  #startItem(line: Line, depth: number, within: boolean): boolean {
    const [mark, number] = /^(?:[-+*]|(\d{1,9})[.)])(?=[ \t]|$)/.exec(line.content) ?? [];
    if (mark === undefined) return false;
    if (within && (line.content.slice(mark.length).trim() === "" || Number(number ?? 1) !== 1)) return false;
    let width = line.indent + mark.length;
    line.take(width);
    const gap = line.blank || line.indent > 4 ? 1 : line.indent;
    line.take(gap);
    width += gap;

    const parent = this.#close(depth);
    const kind = mark.slice(-1);
    if (parent.list?.mark === kind) {
      if (this.#blankFrom < depth) parent.list.node.tight = false;
    } else {
      this.#begin(depth);
      const node: List = { type: "list", tight: true, items: [] };
      if (number !== undefined) node.start = Number(number);
      parent.children.push(node);
      parent.list = { node, mark: kind };
    }
    const of = parent.list.node;
    const node: ListItem = { children: [] };
    of.items.push(node);
    this.#open.push({ children: node.children, begun: false, item: { node, of, width } });
    return true;
  }

  /** Closes what is open beyond the first `depth` containers, and gives the innermost of these. */
  #close(depth: number): Container {
    this.leaves.close();
    this.#open.length = depth;
    return this.#open[depth - 1] ?? this.#root;
  }

  /** The container at `depth`, to begin a block in. A blank line between two blocks of an item makes its list loose. */
  #begin(depth: number): Container {
    const container = this.#close(depth);
    if (container.item && container.begun && this.#blankFrom < depth) container.item.of.tight = false;
    container.begun = true;
    container.list = undefined;
    return container;
  }
}

/** Takes `>` and one space after it, if they come next. */
function takeQuoteMark(line: Line): boolean {
  if (line.indent > 3 || line.char !== ">") return false;
  line.take(line.indent + 1);
  if (line.indent > 0) line.take(1);
  return true;
}

function isRule(text: string): boolean {
  const mark = text.charAt(0);
  if (!"-*_".includes(mark) || text.trimEnd().at(-1) !== mark) return false;
  return /^(?:[-\s]+|[*\s]+|[_\s]+)$/.test(text) && text.replace(/\s/g, "").length > 2;
}
