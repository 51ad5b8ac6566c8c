/** A stream of numbers that a seed fixes, on every machine (sfc32). */
export class Random {
  #a: number;
  #b: number;
  #c = 0x9e3779b9;
  #count = 1;

  /** `stream` tells several independent streams of one seed apart. */
  constructor(seed: number, stream = 0) {
    this.#a = seed | 0;
    this.#b = stream | 0;
    for (let i = 0; i < 16; i++) this.#next();
  }

  /** From 0 up to and without 1. */
  fraction(): number {
    return (this.#next() >>> 0) / 0x1_0000_0000;
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.fraction() * (high - low + 1));
  }

  /** One of `choices`. @throws Error when there is none. */
  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.between(0, choices.length - 1)];
    if (choice === undefined) throw new Error("nothing to pick from");
    return choice;
  }

  /** Log-normal: half lie below `median`; `spread` 1.6 gives a tail a hundred times longer. */
  longTail(median: number, spread: number): number {
    const gauss = Math.sqrt(-2 * Math.log(1 - this.fraction())) * Math.cos(2 * Math.PI * this.fraction());
    return median * Math.exp(spread * gauss);
  }

  /** `digits` hex digits. */
  hex(digits: number): string {
    let text = "";
    while (text.length < digits) text += (this.#next() >>> 0).toString(16).padStart(8, "0");
    return text.slice(0, digits);
  }

  /** A UUID of version 4. */
  uuid(): string {
    const hex = this.hex(32);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  }

  #next(): number {
    const sum = (this.#a + this.#b + this.#count++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return sum;
  }
}
