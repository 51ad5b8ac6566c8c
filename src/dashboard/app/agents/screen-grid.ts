import { PLAIN, type Style } from "../content/sgr.ts";
import { Line } from "./screen-line.ts";

/** Lines that are kept after they have left the screen, and cells in all of them. */
const MOST_LINES = 2_000;
const MOST_CELLS = 400_000;
/** A screen wider than this is none that is drawn upon: blanks at the end of its lines have no ground. */
const MOST_DRAWN = 1_000;

/** The lines of a terminal's screen, those that have left it, and the second screen of programs that take all of it. */
export class Grid {
  columns: number;
  rows: number;
  /** The first and the last of the lines that scroll. */
  top = 0;
  bottom: number;
  readonly #left: Line[] = [];
  #leftCells = 0;
  #lines: Line[];
  /** The first screen, while the second one is shown. */
  #first: Line[] | undefined;
  #made = 0;

  constructor(columns: number, rows: number) {
    this.columns = columns;
    this.rows = rows;
    this.bottom = rows - 1;
    this.#lines = this.#blankLines(rows, PLAIN);
  }

  /** The lines that have left the screen, then those on it; of the second screen only these. */
  get lines(): readonly Line[] {
    return this.#first === undefined ? [...this.#left, ...this.#lines] : this.#lines;
  }

  /** A line on the screen. */
  line(row: number): Line {
    const line = this.#lines[row];
    if (line === undefined) throw new RangeError(`the screen has no row ${row}`);
    return line;
  }

  /**
   * Makes the screen another size; the row where `row` is then. Blank lines below it go first, then what is above leaves the
   * screen; what does not fit into a line is gone.
   */
  resize(columns: number, rows: number, row: number): number {
    const lines = this.#fitted(this.#lines, rows, row, this.#first === undefined);
    if (this.#first !== undefined) this.#first = this.#fitted(this.#first, rows, 0, false);
    this.#lines = lines;
    for (const line of [...lines, ...(this.#first ?? [])]) {
      if (line.length > columns) line.erase(columns, line.length, PLAIN);
    }
    this.columns = columns;
    this.rows = rows;
    this.region(0, rows - 1);
    return Math.min(row, rows - 1);
  }

  /** As many lines as `rows`, `row` among them; what leaves the screen is kept where `keeps`. */
  #fitted(lines: readonly Line[], rows: number, row: number, keeps: boolean): Line[] {
    const over = Math.max(row - rows + 1, 0);
    if (keeps) for (const line of lines.slice(0, over)) this.#leave(line);
    const kept = lines.slice(over, over + rows);
    return [...kept, ...this.#blankLines(rows - kept.length, PLAIN)];
  }

  /** Makes `top` to `bottom` the lines that scroll; false when these are none. */
  region(top: number, bottom: number): boolean {
    const last = Math.min(bottom, this.rows - 1);
    if (top >= last && this.rows > 1) return false;
    this.top = Math.min(top, last);
    this.bottom = last;
    return true;
  }

  /** Moves the lines that scroll up by `count`, or down where it is negative. */
  scroll(count: number, blank: Style): void {
    if (count > 0 && this.top === 0 && this.#first === undefined) {
      for (const line of this.#lines.slice(0, Math.min(count, this.bottom + 1))) this.#leave(line);
    }
    this.#move(this.top, count, blank);
  }

  /** Takes away lines from `row` on, or puts in blank ones where `count` is negative; only within those that scroll. */
  shift(row: number, count: number, blank: Style): void {
    if (row >= this.top && row <= this.bottom) this.#move(row, count, blank);
  }

  /** Blanks what is behind a cell (0), before and at it (1), everything (2), or what has left the screen (3). */
  erase(what: number, row: number, column: number, blank: Style): void {
    const drawn = this.#drawn(blank);
    if (what === 3) {
      this.#left.length = 0;
      this.#leftCells = 0;
    } else if (what <= 2) {
      for (const [place, line] of this.#lines.entries()) {
        if (place === row && what === 0) line.erase(column, this.columns, drawn);
        else if (place === row && what === 1) line.erase(0, column + 1, drawn);
        else if (what === 2 || (what === 0 ? place > row : place < row)) line.erase(0, this.columns, drawn);
      }
    }
  }

  /** Shows the second screen, which is blank then, or the first one again. */
  other(second: boolean): void {
    if (second) {
      this.#first ??= this.#lines;
      this.#lines = this.#blankLines(this.rows, PLAIN);
    } else if (this.#first !== undefined) {
      this.#lines = this.#first;
      this.#first = undefined;
    }
  }

  #move(from: number, count: number, blank: Style): void {
    const many = Math.min(Math.abs(count), this.bottom - from + 1);
    const fresh = this.#blankLines(many, this.#drawn(blank));
    if (count > 0) {
      this.#lines.splice(from, many);
      this.#lines.splice(this.bottom - many + 1, 0, ...fresh);
    } else {
      this.#lines.splice(this.bottom - many + 1, many);
      this.#lines.splice(from, 0, ...fresh);
    }
  }

  #leave(line: Line): void {
    this.#left.push(line);
    this.#leftCells += line.length;
    while (this.#left.length > MOST_LINES || this.#leftCells > MOST_CELLS) {
      this.#leftCells -= this.#left.shift()?.length ?? 0;
    }
  }

  #blankLines(count: number, blank: Style): Line[] {
    return Array.from({ length: count }, () => {
      const line = new Line(String(this.#made++));
      if (blank !== PLAIN) line.erase(0, this.columns, blank);
      return line;
    });
  }

  #drawn(blank: Style): Style {
    return this.columns > MOST_DRAWN ? PLAIN : blank;
  }
}
