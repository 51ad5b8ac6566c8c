import { type Address, here, readAngle, readBare } from "./addresses.ts";
import { pairRuns, type Run, runAt } from "./emphasis.ts";
import { ENTITY_HERE, entity, PUNCTUATION } from "./entities.ts";
import { readInlineTarget, readLabel, type Target } from "./links.ts";
import type { References } from "./references.ts";
import { addText, nested, type Opening, type Token } from "./tokens.ts";
import type { Inline } from "./tree.ts";

/** What stands within `text`, which is readable and without blank lines. */
export function readInlines(text: string, references: References): Inline[] {
  return nested(new InlineReader(text, references).read());
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
    const address = readAngle(this.#text, at);
    const [lineBreak] = (address === undefined && here(BREAK, this.#text, at)) || [];
    if (address !== undefined) return this.#link(address);
    if (lineBreak !== undefined) this.#tokens.push({ type: "break" });
    else this.#add("<");
    return at + (lineBreak ?? "<").length;
  }

  #address(mark: string, at: number): number {
    const address = readBare(this.#text, at);
    if (address !== undefined) return this.#link(address);
    this.#add(mark);
    return at + mark.length;
  }

  #link({ target, text, end }: Address): number {
    this.#tokens.push({ type: "link", target, title: "", children: [{ type: "text", text }] });
    return end;
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
    const own = bracket.holds ? "" : this.#text.slice(bracket.from, at);
    const value = this.#references.find(label?.value || own);
    return value && { value, end: label?.end ?? at + 1 };
  }
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

/** What may mean something within a line. */
const SPECIAL = /[\\\][<&\n]|!\[|`+|\*+|_+|~+|https?:\/\/|www\./gi;

const BREAK = /<br\s?\/?>/iy;
