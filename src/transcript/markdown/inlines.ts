import { pairRuns, type Run, runAt } from "./emphasis.ts";
import { ENTITY_HERE, entity, PUNCTUATION } from "./entities.ts";
import { readInlineTarget, readLabel, type Target } from "./links.ts";
import type { References } from "./references.ts";
import { type Inline, MOST_DEPTH, type Style } from "./tree.ts";

/** What stands within `text`, which is printable and without blank lines. */
export function readInlines(text: string, references: References): Inline[] {
  return nested(new InlineReader(text, references).read());
}

/** What a text is made of before it is known what stands in what. */
type Token = Inline | Run | Opening | { type: "end"; text: string };

/** A bracket that begins a link or an image if `link` is known, else is text. */
interface Opening {
  type: "begin";
  image: boolean;
  link?: Target;
}

/** An opening bracket whose end was not yet met. */
interface Bracket {
  opening: Opening;
  /** Where its text begins. */
  from: number;
  /** How many runs stand before it. */
  runs: number;
  /** Whether another bracket stands in it, so that it is no label. */
  holds: boolean;
}

class InlineReader {
  readonly #text: string;
  readonly #references: References;
  readonly #tokens: Token[] = [];
  readonly #runs: Run[] = [];
  readonly #brackets: Bracket[] = [];
  /** How many of the open brackets stand around a link, and so can't begin one. */
  #around = 0;
  /** Where runs of backticks stand, by their length, last first. */
  #ticks: Map<number, number[]> | undefined;

  constructor(text: string, references: References) {
    this.#text = text;
    this.#references = references;
  }

  read(): Token[] {
    let at = 0;
    for (;;) {
      SPECIAL.lastIndex = at;
      const found = SPECIAL.exec(this.#text);
      const end = found?.index ?? this.#text.length;
      if (found?.[0] === "\n") this.#breakLine(this.#text.slice(at, end));
      else if (end > at) this.#add(this.#text.slice(at, end));
      if (found === null) break;
      at = this.#take(found[0], end);
    }
    pairRuns(this.#runs, 0);
    return this.#tokens;
  }

  #add(text: string): void {
    addText(this.#tokens, text);
  }

  /** Reads what begins with `mark` at `at`, and gives where it ends. */
  #take(mark: string, at: number): number {
    const end = at + mark.length;
    switch (mark[0]) {
      case "\n":
        return end;
      case "\\":
        return this.#escape(end);
      case "`":
        return this.#code(end, mark.length);
      case "<":
        return this.#angle(at);
      case "&": {
        const [name] = here(ENTITY_HERE, this.#text, at) ?? [];
        const char = name && entity(name);
        this.#add(char ?? mark);
        return name !== undefined && char !== undefined ? at + name.length : end;
      }
      case "[":
      case "!":
        return this.#begin(mark === "![", end);
      case "]":
        return this.#end(at);
      case "*":
      case "_":
      case "~":
        return this.#run(mark, at);
      default:
        return this.#address(mark, at);
    }
  }

  #breakLine(before: string): void {
    let end = before.length;
    while (before[end - 1] === " ") end--;
    if (end > 0) this.#add(before.slice(0, end));
    if (before.length - end > 1) this.#tokens.push({ type: "break" });
    else this.#add("\n");
  }

  #escape(at: number): number {
    const char = this.#text.charAt(at);
    if (char === "\n") this.#tokens.push({ type: "break" });
    else if (PUNCTUATION.test(char)) this.#add(char);
    else {
      this.#add("\\");
      return at;
    }
    return at + 1;
  }

  #run(mark: string, at: number): number {
    const run = runAt(this.#text, at, mark.length);
    if (run.char === "~" && run.length !== 2) this.#add(mark);
    else {
      this.#tokens.push(run);
      this.#runs.push(run);
    }
    return at + mark.length;
  }

  #code(from: number, length: number): number {
    this.#ticks ??= ticksOf(this.#text);
    const ends = this.#ticks.get(length);
    while ((ends?.at(-1) ?? from) < from) ends?.pop();
    const end = ends?.at(-1);
    if (end === undefined) {
      this.#add("`".repeat(length));
      return from;
    }
    const text = this.#text.slice(from, end).replaceAll("\n", " ");
    const padded = text.startsWith(" ") && text.endsWith(" ") && text.trim() !== "";
    this.#tokens.push({ type: "code", text: padded ? text.slice(1, -1) : text });
    return end + length;
  }

  /** An address in angle brackets, or the one element of HTML that means something here. */
  #angle(at: number): number {
    const [all, address, mail] = here(ANGLE, this.#text, at) ?? [];
    if (all === undefined) this.#add("<");
    else if (address !== undefined) this.#link(address, address);
    else if (mail !== undefined) this.#link(`mailto:${mail}`, mail);
    else this.#tokens.push({ type: "break" });
    return at + (all ?? "<").length;
  }

  /** An address without brackets. What ends a sentence or closes a bracket that is not in it is not part of it. */
  #address(mark: string, at: number): number {
    const [all] = /[a-z0-9.+-]/i.test(this.#text.charAt(at - 1)) ? [] : (here(ADDRESS, this.#text, at) ?? []);
    if (all === undefined) {
      this.#add(mark);
      return at + mark.length;
    }
    let end = all.length;
    let unopened = all.split(")").length - all.split("(").length;
    for (; ; end--) {
      const char = all.charAt(end - 1);
      if (char === ")" ? unopened-- <= 0 : !"?!.,:;*_~'…’”»".includes(char)) break;
    }
    const address = all.slice(0, end);
    this.#link(/^w/i.test(address) ? `http://${address}` : address, address);
    return at + end;
  }

  #link(target: string, text: string): void {
    this.#tokens.push({ type: "link", target, title: "", children: [{ type: "text", text }] });
  }

  #begin(image: boolean, from: number): number {
    const opening: Opening = { type: "begin", image };
    const outer = this.#brackets.at(-1);
    if (outer !== undefined) outer.holds = true;
    this.#brackets.push({ opening, from, runs: this.#runs.length, holds: false });
    this.#tokens.push(opening);
    return from;
  }

  #end(at: number): number {
    const bracket = this.#brackets.pop();
    const outer = this.#brackets.length;
    const can = bracket !== undefined && (bracket.opening.image || outer >= this.#around);
    this.#around = Math.min(this.#around, outer);
    const link = can ? (readInlineTarget(this.#text, at + 1) ?? this.#reference(bracket, at)) : undefined;
    if (bracket === undefined || link === undefined) {
      this.#add("]");
      return at + 1;
    }
    bracket.opening.link = link.value;
    if (!bracket.opening.image) this.#around = outer;
    pairRuns(this.#runs, bracket.runs);
    this.#runs.length = bracket.runs;
    this.#tokens.push({ type: "end", text: `](${link.value.target})` });
    return link.end;
  }

  #reference(bracket: Bracket, at: number): { value: Target; end: number } | undefined {
    const label = readLabel(this.#text, at + 1);
    const own = bracket.holds || at - bracket.from > 999 ? "" : this.#text.slice(bracket.from, at);
    const value = this.#references.find(label?.value || own);
    return value && { value, end: label?.end ?? at + 1 };
  }
}

/** The tokens as a tree. What would stand in too many others is text, and so is an address within a link. */
function nested(tokens: readonly Token[]): Inline[] {
  const root: Inline[] = [];
  const open: { children: Inline[]; opening?: Opening }[] = [{ children: root }];
  let beyond = 0;
  let links = 0;
  const top = () => open.at(-1)?.children ?? root;
  const text = (text: string) => addText(top(), text);

  function begin(mark: string, opening?: Opening): void {
    if (open.length > MOST_DEPTH) {
      beyond++;
      text(mark);
    } else {
      open.push({ children: [], opening });
      if (opening !== undefined && !opening.image) links++;
    }
  }

  function end(mark: string, style?: Style): void {
    if (beyond > 0) {
      beyond--;
      text(mark);
      return;
    }
    const { children, opening } = open.pop() ?? { children: [] };
    if (style !== undefined) top().push({ type: style, children });
    else if (opening?.link !== undefined) {
      const { target, title } = opening.link;
      if (opening.image) top().push({ type: "image", target, title, alt: textOf(children) });
      else top().push({ type: "link", target, title, children });
      if (!opening.image) links--;
    }
  }

  for (const token of tokens) {
    if (token.type === "text") text(token.text);
    else if (token.type === "run") {
      for (const style of token.ends) end(markOf(token, style), style);
      if (token.left > 0) text(token.char.repeat(token.left));
      for (const style of token.begins.reverse()) begin(markOf(token, style));
    } else if (token.type === "begin") {
      const mark = token.image ? "![" : "[";
      if (token.link === undefined) text(mark);
      else begin(mark, token);
    } else if (token.type === "end") end(token.text);
    else if (token.type === "link" && links > 0) text(textOf(token.children));
    else top().push(token);
  }
  return root;
}

function addText(into: Token[], text: string): void {
  const last = into.at(-1);
  if (last?.type === "text") last.text += text;
  else into.push({ type: "text", text });
}

function markOf({ char }: Run, style: Style): string {
  return style === "emphasis" ? char : char + char;
}

function textOf(inlines: readonly Inline[]): string {
  return inlines
    .map((inline) => {
      if (inline.type === "image") return inline.alt;
      if (inline.type === "break") return "\n";
      return "children" in inline ? textOf(inline.children) : inline.text;
    })
    .join("");
}

/** Where the runs of backticks in `text` stand, by their length, last first. */
function ticksOf(text: string): Map<number, number[]> {
  const ticks = new Map<number, number[]>();
  for (const { 0: run, index } of [...text.matchAll(/`+/g)].reverse()) {
    const found = ticks.get(run.length);
    if (found === undefined) ticks.set(run.length, [index]);
    else found.push(index);
  }
  return ticks;
}

function here(sticky: RegExp, text: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at;
  return sticky.exec(text);
}

/** What may mean something within a line. */
const SPECIAL = /[\\\][<&\n]|!\[|`+|\*+|_+|~+|https?:\/\/|www\./gi;

const ANGLE =
  /<(?:([a-z][a-z0-9+.-]{1,31}:[^\s<>]*)|([a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*)|br\s?\/?)>/iy;

const ADDRESS = /(?:https?:\/\/[\p{L}\p{N}]|www\.[\p{L}\p{N}])[^\s<>[\]"`\\\u3000-\u303f\uff01-\uffef]*/iuy;
