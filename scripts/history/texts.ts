import { Random } from "./random.ts";

const WORDS =
  "the parser reads each line once and keeps what it needs then a test fails because cursor page offset was wrong so I " +
  "check server store index build module function returns value error path folder config session record token stream watch " +
  "größer naïve café 数据 файл done next before after while until when where which there here";

const CODE = [
  "export function {a}({b}: string): {c} | undefined {",
  "  const {a} = {b}.{c}(({a}) => {a} !== undefined);",
  "  if ({a}.length === 0) return undefined;",
  '  throw new Error(`{a}: "{b}" is no {c}`);',
  "test {a} {b} ... ok",
  "\tat {a} (/home/dev/work/{b}/src/{c}.ts:{n}:{n})",
  "+  {a}: {b}[{n}] ?? {c},",
  "-  {a}: {b}[{n}],",
  "drwxr-xr-x 2 dev dev {n} Nov 12 {a}-{b}.{c}",
  "src/{a}/{b}.ts:{n}:  return {c}.{a}();",
];

/** Texts as they stand inside a JSON string, ready to be copied: prose, or code and logs. */
export class TextPool {
  readonly #bytes: Buffer;
  /** Where a line starts; text is only cut there, so no escape and no character is ever split. */
  readonly #lines: readonly number[];

  private constructor(lines: readonly Buffer[]) {
    this.#bytes = Buffer.concat(lines);
    let at = 0;
    this.#lines = lines.map((line) => {
      at += line.length;
      return at - line.length;
    });
  }

  /** What people and models write. */
  static prose(seed: number, bytes: number): TextPool {
    const random = new Random(seed, 1);
    const words = WORDS.split(" ");
    return TextPool.#of(bytes, () => {
      const sentence = Array.from({ length: random.between(4, 18) }, () => random.pick(words)).join(" ");
      return `${sentence}.${random.fraction() < 0.2 ? "\n" : " "}`;
    });
  }

  /** What tools print. */
  static code(seed: number, bytes: number): TextPool {
    const random = new Random(seed, 2);
    const words = WORDS.split(" ").slice(0, 40);
    return TextPool.#of(bytes, () => {
      const line = random.pick(CODE).replaceAll("{n}", () => `${random.between(1, 9999)}`);
      return `${line.replaceAll(/\{[abc]\}/g, () => random.pick(words))}\n`;
    });
  }

  static #of(bytes: number, line: () => string): TextPool {
    const lines: Buffer[] = [];
    for (let held = 0; held < bytes; held += lines.at(-1)?.length ?? 0) {
      lines.push(Buffer.from(JSON.stringify(line()).slice(1, -1)));
    }
    return new TextPool(lines);
  }

  /** Whole lines of together at most `bytes` bytes (one line at least), from a place that `random` chooses, in parts. */
  take(random: Random, bytes: number): Buffer[] {
    const first = random.between(0, this.#lines.length - 1);
    const parts: Buffer[] = [];
    let start = this.#lines[first] ?? 0;
    let left = bytes;
    while (left >= this.#bytes.length - start) {
      parts.push(this.#bytes.subarray(start));
      left -= this.#bytes.length - start;
      start = 0;
    }
    const end = this.#lineAtOrBefore(start + left);
    if (end > start) parts.push(this.#bytes.subarray(start, end));
    return parts.length > 0 ? parts : [this.#bytes.subarray(start, this.#lines[first + 1])];
  }

  #lineAtOrBefore(place: number): number {
    let low = 0;
    let high = this.#lines.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#lines[middle] ?? 0) <= place) low = middle;
      else high = middle - 1;
    }
    return this.#lines[low] ?? 0;
  }
}
