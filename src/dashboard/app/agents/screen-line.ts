import { PLAIN, type Style } from "../content/sgr.ts";

/** A piece of a line that looks the same from end to end. */
export interface LineRun {
  readonly text: string;
  readonly style: Style;
  /** One character that takes two cells. */
  readonly wide?: true;
  /** The cell at which the cursor stands. */
  readonly cursor?: true;
}

/** Characters in one cell: a letter and the marks on it. */
const MOST_IN_CELL = 16;

/** A line of a terminal's screen. */
export class Line {
  /** Its own among the lines of its screen. */
  readonly key: string;
  /** Grows with each change. */
  version = 0;
  /** What stands in each cell, up to the last that was written; "" is the second cell of a wide character. */
  readonly #texts: string[] = [];
  readonly #styles: Style[] = [];

  constructor(key: string) {
    this.key = key;
  }

  /** Cells up to the last that was written. */
  get length(): number {
    return this.#texts.length;
  }

  /** Writes one character of `width` cells. */
  put(at: number, text: string, width: number, style: Style): void {
    this.#fill(at);
    this.#split(at);
    this.#split(at + width);
    for (let cell = at; cell < at + width; cell++) {
      this.#texts[cell] = cell === at ? text : "";
      this.#styles[cell] = style;
    }
    this.version++;
  }

  /** Adds a mark to the character in a cell. */
  mark(at: number, mark: string): void {
    const cell = this.#texts[at] === "" ? at - 1 : at;
    const text = this.#texts[cell];
    if (text === undefined || text.length + mark.length > MOST_IN_CELL) return;
    this.#texts[cell] = text + mark;
    this.version++;
  }

  /** Makes the cells from `from` up to `to` blank. */
  erase(from: number, to: number, blank: Style): void {
    this.#split(from);
    this.#split(to);
    this.version++;
    if (blank === PLAIN && to >= this.length) {
      this.#cut(from);
      return;
    }
    this.#fill(from);
    for (let cell = from; cell < to; cell++) {
      this.#texts[cell] = " ";
      this.#styles[cell] = blank;
    }
  }

  /** Moves what stands from `at` on by `count` cells; what leaves the line of `columns` cells is gone. */
  insert(at: number, count: number, columns: number, blank: Style): void {
    if (at >= this.length && blank === PLAIN) return;
    this.#fill(at);
    this.#split(at);
    this.#texts.splice(at, 0, ...Array<string>(count).fill(" "));
    this.#styles.splice(at, 0, ...Array<Style>(count).fill(blank));
    this.#split(columns);
    this.#cut(columns);
    this.version++;
  }

  /** Takes away `count` cells from `at` on; what stands behind moves there. */
  remove(at: number, count: number): void {
    this.#split(at);
    this.#split(at + count);
    this.#texts.splice(at, count);
    this.#styles.splice(at, count);
    this.version++;
  }

  /** The text of the line, without blanks at its end. */
  get text(): string {
    return this.#texts.join("").trimEnd();
  }

  /** What stands in it, in pieces, without plain blanks at its end. `cursor` is the cell at which the cursor stands. */
  runs(cursor?: number): readonly LineRun[] {
    const runs: LineRun[] = [];
    let end = this.length;
    while (end > 0 && this.#texts[end - 1] === " " && this.#styles[end - 1] === PLAIN) end--;
    const here = cursor === undefined || this.#texts[cursor] !== "" ? cursor : cursor - 1;
    if (here !== undefined) end = Math.max(end, here + 1);
    let text = "";
    let style = PLAIN;
    const flush = (): void => {
      if (text !== "") runs.push({ text, style });
      text = "";
    };
    for (let cell = 0; cell < end; cell++) {
      const found = this.#texts[cell] ?? " ";
      const look = this.#styles[cell] ?? PLAIN;
      const isWide = this.#texts[cell + 1] === "";
      if (look !== style || isWide || cell === here) flush();
      style = look;
      text += found;
      if (!isWide && cell !== here) continue;
      runs.push({ text, style, ...(isWide && { wide: true }), ...(cell === here && { cursor: true }) });
      text = "";
      if (isWide) cell++;
    }
    flush();
    return runs;
  }

  /** Parts a wide character whose cells lie on both sides of the beginning of `at`: it is gone. */
  #split(at: number): void {
    if (this.#texts[at] !== "") return;
    this.#texts[at - 1] = " ";
    this.#texts[at] = " ";
  }

  /** Blanks up to the cell `at`. */
  #fill(at: number): void {
    while (this.length < at) {
      this.#texts.push(" ");
      this.#styles.push(PLAIN);
    }
  }

  #cut(at: number): void {
    if (this.length <= at) return;
    this.#texts.length = at;
    this.#styles.length = at;
  }
}
