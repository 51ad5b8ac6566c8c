/** A line of a TOML text that gives a key its value, which may go on over more lines. */
interface Pair {
  /** All keys from the root on. */
  readonly path: readonly string[];
  /** The value as it is written. */
  readonly value: string;
  readonly end: number;
}

/** A table, from its header to the next one. */
interface Table {
  readonly path: readonly string[];
  readonly start: number;
  /** Behind its last pair, or its header. */
  readonly end: number;
  readonly pairs: readonly Pair[];
}

/** What a TOML text says of one of its tables. */
export type TomlTable =
  | { readonly kind: "absent" }
  /** A table with a header of its own; the pairs as they are written. */
  | {
      readonly kind: "table";
      readonly values: ReadonlyMap<string, string>;
      readonly start: number;
      readonly end: number;
    }
  /** Written in another way: inside a line of another table, or more than once. */
  | { readonly kind: "other" };

/** Looks for the table `path`. @throws SyntaxError: the text can't be followed */
export function tomlTable(text: string, path: readonly [string, string]): TomlTable {
  const tables = tablesOf(text);
  const isOurs = (its: readonly string[]): boolean => path.every((key, index) => its[index] === key);
  const own = tables.filter((table) => table.path.length === path.length && isOurs(table.path));
  const [table, ...more] = own;
  const isInline = tables.some(
    (each) =>
      !isOurs(each.path) &&
      each.pairs.some((pair) => isOurs(pair.path) || (pair.path.length === 1 && pair.path[0] === path[0])),
  );
  if (isInline || more.length > 0) return { kind: "other" };
  // Without a header of its own, but with tables in it.
  if (table === undefined) return tables.some((each) => isOurs(each.path)) ? { kind: "other" } : { kind: "absent" };
  const values = new Map(table.pairs.map((pair) => [pair.path.slice(path.length).join("."), pair.value]));
  return { kind: "table", values, start: table.start, end: table.end };
}

function tablesOf(text: string): Table[] {
  const scanner = new Scanner(text);
  let path: readonly string[] = [];
  let start = 0;
  let end = 0;
  let pairs: Pair[] = [];
  const tables: Table[] = [];
  for (scanner.blanks(); !scanner.atEnd; scanner.blanks()) {
    if (scanner.isHeader) {
      tables.push({ path, start, end, pairs });
      start = scanner.at;
      path = scanner.header();
      end = scanner.at;
      pairs = [];
    } else {
      const pair = scanner.pair(path);
      end = pair.end;
      pairs.push(pair);
    }
  }
  return [...tables, { path, start, end, pairs }];
}

const BLANKS = /(?:\s+|#[^\n]*)*/y;
const KEY = /[ \t]*("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+)[ \t]*/y;
/** What a value is made of, longest first: texts over several lines, texts, comments, brackets, all else. */
const PART =
  /"""(?:[^\\]|\\[\s\S])*?"{3,5}|'''[\s\S]*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[[\]{}]|\r?\n|[^"'#[\]{}\n\r]+|\r/y;

class Scanner {
  readonly #text: string;
  at: number;

  constructor(text: string) {
    this.#text = text;
    this.at = text.startsWith("\ufeff") ? 1 : 0;
  }

  get atEnd(): boolean {
    return this.at >= this.#text.length;
  }

  get isHeader(): boolean {
    return this.#text[this.at] === "[";
  }

  blanks(): void {
    this.#take(BLANKS);
  }

  header(): readonly string[] {
    const brackets = this.#text.startsWith("[[", this.at) ? 2 : 1;
    this.at += brackets;
    const path = this.#keys();
    this.#expect("]".repeat(brackets));
    return path;
  }

  pair(table: readonly string[]): Pair {
    const path = [...table, ...this.#keys()];
    this.#expect("=");
    const start = this.at;
    let depth = 0;
    for (let part = this.#peek(PART); part !== ""; part = this.#peek(PART)) {
      const ends = /^\r?\n$/.test(part) || part.startsWith("#");
      if (ends && depth === 0) break;
      this.at += part.length;
      if (part === "[" || part === "{") depth++;
      if (part === "]" || part === "}") depth--;
    }
    const value = this.#text.slice(start, this.at).trim();
    if (value === "" || depth !== 0) throw this.#wrong();
    return { path, value, end: this.at };
  }

  #keys(): string[] {
    const keys: string[] = [];
    do {
      const written = this.#take(KEY).trim();
      if (written === "") throw this.#wrong();
      keys.push(written.startsWith('"') ? JSON.parse(written) : written.replace(/^'|'$/g, ""));
    } while (this.#text[this.at] === "." && ++this.at > 0);
    return keys;
  }

  #expect(text: string): void {
    if (!this.#text.startsWith(text, this.at)) throw this.#wrong();
    this.at += text.length;
  }

  #take(pattern: RegExp): string {
    const taken = this.#peek(pattern);
    this.at += taken.length;
    return taken;
  }

  #peek(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    return pattern.exec(this.#text)?.[0] ?? "";
  }

  #wrong(): SyntaxError {
    return new SyntaxError(`no TOML from character ${this.at} on`);
  }
}
