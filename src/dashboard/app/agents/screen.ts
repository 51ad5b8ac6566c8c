import { applySgr, PLAIN, type Style } from "../content/sgr.ts";
import { widthOf } from "./char-width.ts";
import { Grid } from "./screen-grid.ts";
import type { Line } from "./screen-line.ts";
import { Sequences } from "./sequences.ts";

/** How a screen is set up. */
export interface ScreenOptions {
  readonly columns: number;
  readonly rows: number;
  /** A newline also goes to the start of the line, as for what a program without a terminal prints. */
  readonly newline?: boolean;
}

interface Cursor {
  readonly row: number;
  readonly column: number;
  readonly style: Style;
}

const HOME: Cursor = { row: 0, column: 0, style: PLAIN };
/** Modes of which the page takes notice, by their numbers. */
const ARROWS = 1;
const WRAPS = 7;
const SHOWN = 25;
const PASTES = 2004;
const USUAL: readonly number[] = [WRAPS, SHOWN];
/** What stands for the characters from ` to ~ where lines are drawn. */
const DRAWN = "◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·";
const MOST = 100_000;

/**
 * What a terminal shows after a program has written to it: what xterm is told and most programs use. It answers nothing,
 * and holds at most 2,000 lines that have left it. Whatever is written, and in whatever parts, it never fails.
 */
export class Screen {
  readonly #sequences: Sequences;
  readonly #grid: Grid;
  readonly #newline: boolean;
  #row = 0;
  #column = 0;
  #style: Style = PLAIN;
  /** The last column was written: the next character stands on the next line. */
  #isFull = false;
  #saved: Cursor = HOME;
  #modes: ReadonlySet<number> = new Set(USUAL);
  #inserts = false;
  /** Which of the two sets of characters draw lines, and which is in use. */
  #draws: readonly [boolean, boolean] = [false, false];
  #set: 0 | 1 = 0;

  constructor({ columns, rows, newline = false }: ScreenOptions) {
    this.#grid = new Grid(columns, rows);
    this.#newline = newline;
    this.#sequences = new Sequences({
      print: (character) => this.#print(character),
      control: (code) => this.#control(code),
      escape: (between, end) => this.#escape(between, end),
      csi: (between, end) => this.#csi(between, end),
    });
  }

  /** Takes what a program wrote; any part of it. */
  write(text: string): void {
    this.#sequences.feed(text);
  }

  /** The terminal is of another size from now on. */
  resize(columns: number, rows: number): void {
    const grid = this.#grid;
    if (columns === grid.columns && rows === grid.rows) return;
    this.#to(grid.resize(columns, rows, this.#row), this.#column);
  }

  /** The lines that have left the screen, then those on it; of the second screen only these. */
  get lines(): readonly Line[] {
    return this.#grid.lines;
  }

  /** Where the cursor stands; undefined while it is hidden. */
  get cursor(): { readonly line: Line; readonly column: number } | undefined {
    return this.#modes.has(SHOWN) ? { line: this.#grid.line(this.#row), column: this.#column } : undefined;
  }

  /** Whether the program wants its own sequences for the arrow keys. */
  get wantsArrows(): boolean {
    return this.#modes.has(ARROWS);
  }

  /** Whether the program wants to be told what is pasted. */
  get wantsPastes(): boolean {
    return this.#modes.has(PASTES);
  }

  #print(typed: string): void {
    const isDrawn = this.#draws[this.#set] && typed >= "`" && typed <= "~";
    const character = isDrawn ? (DRAWN[typed.charCodeAt(0) - 0x60] ?? typed) : typed;
    const width = widthOf(character);
    const { columns } = this.#grid;
    if (width === undefined || width > columns) return;
    if (width === 0) {
      this.#grid.line(this.#row).mark(this.#column - (this.#isFull ? 0 : 1), character);
      return;
    }
    const room = this.#isFull ? 0 : columns - this.#column;
    if (width > room) {
      if (this.#modes.has(WRAPS)) {
        this.#column = 0;
        this.#down();
      } else this.#column = columns - width;
    }
    const line = this.#grid.line(this.#row);
    if (this.#inserts) line.insert(this.#column, width, columns, PLAIN);
    line.put(this.#column, character, width, this.#style);
    this.#isFull = this.#column + width >= columns;
    this.#column = Math.min(this.#column + width, columns - 1);
  }

  #control(code: number): void {
    if (code === 0x08) this.#to(this.#row, this.#column - 1);
    else if (code === 0x09) this.#to(this.#row, (this.#column | 7) + 1);
    else if (code >= 0x0a && code <= 0x0c) {
      if (this.#newline) this.#column = 0;
      this.#down();
    } else if (code === 0x0d) this.#to(this.#row, 0);
    else if (code === 0x0e || code === 0x0f) this.#set = code === 0x0e ? 1 : 0;
  }

  #escape(between: string, end: string): void {
    if (between === "(") this.#draws = [end === "0", this.#draws[1]];
    else if (between === ")") this.#draws = [this.#draws[0], end === "0"];
    else if (between !== "") return;
    else if (end === "7") this.#save();
    else if (end === "8") this.#restore();
    else if (end === "D") this.#down();
    else if (end === "E") {
      this.#column = 0;
      this.#down();
    } else if (end === "M") this.#up();
    else if (end === "c") this.#reset();
  }

  #csi(between: string, end: string): void {
    const [all, isPrivate, list = ""] = /^(\??)([\d;:]*)$/.exec(between) ?? [];
    if (all === undefined) return;
    const numbers = list.split(";").map((text) => Math.min(Number.parseInt(text, 10) || 0, MOST));
    if (isPrivate === "?") {
      if (end === "h" || end === "l") for (const mode of numbers) this.#mode(mode, end === "h");
      return;
    }
    if (end === "m") this.#style = applySgr(this.#style, list);
    else if (end === "h" || end === "l") {
      if (numbers.includes(4)) this.#inserts = end === "h";
    } else if (!this.#moves(end, numbers)) this.#changes(end, numbers);
  }

  /** Moves of the cursor; false when `end` is none. */
  #moves(end: string, [first = 0, second = 0]: readonly number[]): boolean {
    const count = Math.max(first, 1);
    const { top, bottom } = this.#grid;
    const row = this.#row;
    const column = this.#column;
    if (end === "A" || end === "F") {
      this.#to(Math.max(row - count, row >= top ? top : 0), end === "F" ? 0 : column);
    } else if (end === "B" || end === "E" || end === "e") {
      this.#to(Math.min(row + count, row <= bottom ? bottom : MOST), end === "E" ? 0 : column);
    } else if (end === "C" || end === "a") this.#to(row, column + count);
    else if (end === "D") this.#to(row, column - count);
    else if (end === "G" || end === "`") this.#to(row, count - 1);
    else if (end === "d") this.#to(count - 1, column);
    else if (end === "H" || end === "f") this.#to(count - 1, Math.max(second, 1) - 1);
    else if (end === "I") this.#to(row, ((column >> 3) + count) * 8);
    else if (end === "Z") this.#to(row, (((column + 7) >> 3) - count) * 8);
    else if (end === "s") this.#save();
    else if (end === "u") this.#restore();
    else return false;
    return true;
  }

  /** Changes of what stands on the screen. */
  #changes(end: string, [first = 0, second = 0]: readonly number[]): void {
    const count = Math.max(first, 1);
    const grid = this.#grid;
    const { columns } = grid;
    const line = grid.line(this.#row);
    const at = this.#column;
    const blank = this.#blank;
    if (end === "K") line.erase(first === 0 ? at : 0, first === 1 ? at + 1 : columns, blank);
    else if (end === "J") grid.erase(first, this.#row, at, blank);
    else if (end === "X") line.erase(at, Math.min(at + count, columns), blank);
    else if (end === "@") line.insert(at, Math.min(count, columns - at), columns, blank);
    else if (end === "P") line.remove(at, Math.min(count, columns - at));
    else if (end === "L" || end === "M") {
      grid.shift(this.#row, end === "L" ? -count : count, blank);
      this.#column = 0;
    } else if (end === "S") grid.scroll(count, blank);
    else if (end === "T") grid.scroll(-count, blank);
    else if (end === "r") {
      if (grid.region(count - 1, (second || MOST) - 1)) this.#to(0, 0);
      return;
    } else return;
    this.#isFull = false;
  }

  #mode(mode: number, on: boolean): void {
    if (mode === 1049 || mode === 1047 || mode === 47) {
      if (on && mode === 1049) this.#save();
      this.#grid.other(on);
      if (!on && mode === 1049) this.#restore();
    } else if (mode === ARROWS || mode === WRAPS || mode === SHOWN || mode === PASTES) {
      const modes = new Set(this.#modes);
      if (on) modes.add(mode);
      else modes.delete(mode);
      this.#modes = modes;
    }
  }

  #to(row: number, column: number): void {
    this.#row = Math.min(Math.max(row, 0), this.#grid.rows - 1);
    this.#column = Math.min(Math.max(column, 0), this.#grid.columns - 1);
    this.#isFull = false;
  }

  #down(): void {
    if (this.#row === this.#grid.bottom) this.#grid.scroll(1, this.#blank);
    else this.#to(this.#row + 1, this.#column);
    this.#isFull = false;
  }

  #up(): void {
    if (this.#row === this.#grid.top) this.#grid.scroll(-1, this.#blank);
    else this.#to(this.#row - 1, this.#column);
    this.#isFull = false;
  }

  #save(): void {
    this.#saved = { row: this.#row, column: this.#column, style: this.#style };
  }

  #restore(): void {
    this.#style = this.#saved.style;
    this.#to(this.#saved.row, this.#saved.column);
  }

  #reset(): void {
    this.#grid.other(false);
    this.#grid.region(0, MOST);
    this.#grid.erase(2, 0, 0, PLAIN);
    this.#to(0, 0);
    this.#style = PLAIN;
    this.#saved = HOME;
    this.#modes = new Set(USUAL);
    this.#inserts = false;
    this.#draws = [false, false];
    this.#set = 0;
  }

  /** How a cell looks that is made blank: of the ground that is written on. */
  get #blank(): Style {
    return this.#style.bg === undefined ? PLAIN : { bg: this.#style.bg };
  }
}
