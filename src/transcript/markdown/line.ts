/** A line that is read from its left, one container after the other. A tab reaches to the next column divisible by 4. */
export class Line {
  readonly text: string;
  /** Where the first character stands that is neither space nor tab. */
  next = 0;
  #at = 0;
  #column = 0;
  #nextColumn = 0;
  #inTab = false;

  constructor(text: string) {
    this.text = text;
    this.#find();
  }

  /** How many columns what comes next is indented. */
  get indent(): number {
    return this.#nextColumn - this.#column;
  }

  /** Whether nothing comes next. */
  get blank(): boolean {
    return this.next >= this.text.length;
  }

  /** The first character that comes next and is no space. */
  get char(): string {
    return this.text.charAt(this.next);
  }

  /** What comes next, without what it is indented. */
  get content(): string {
    return this.text.slice(this.next);
  }

  /** What comes next, with the rest of a tab that was taken in part as spaces. */
  get rest(): string {
    if (!this.#inTab) return this.text.slice(this.#at);
    return " ".repeat(4 - (this.#column % 4)) + this.text.slice(this.#at + 1);
  }

  /** Takes `columns` columns, or what there is. */
  take(columns: number): void {
    for (let left = columns; left > 0 && this.#at < this.text.length; ) {
      const width = this.text[this.#at] === "\t" ? 4 - (this.#column % 4) : 1;
      this.#inTab = width > left;
      this.#column += Math.min(width, left);
      if (!this.#inTab) this.#at++;
      left -= width;
    }
    if (this.#at > this.next) this.#find();
  }

  #find(): void {
    this.next = this.#at;
    this.#nextColumn = this.#column;
    for (; ; this.next++) {
      const char = this.text[this.next];
      if (char === " ") this.#nextColumn++;
      else if (char === "\t") this.#nextColumn += 4 - (this.#nextColumn % 4);
      else return;
    }
  }
}
