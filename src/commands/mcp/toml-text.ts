import { Scalar, type Statement, type TomlValue, together } from "./toml-value.ts";

/** What a TOML text says, in order. @throws SyntaxError: the text can't be followed */
export function statementsOf(text: string): readonly Statement[] {
  return new Scanner(text).statements();
}

const SPACE = /[ \t]*/y;
const BLANKS = /(?:\s+|#[^\n]*)*/y;
const LINE_END = /[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/y;
const KEY = /"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+/y;
/** A text; those over several lines first. */
const TEXT = /"""(?:[^\\]|\\[\s\S])*?"{3,5}|'''[\s\S]*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'/y;
const SCALAR =
  /true\b|false\b|[+-]?(?:inf|nan)\b|[+-]?\d[\w.:]*(?:[+-][\w.:]+)*(?: \d\d:\d\d[\d:.]*(?:Z|[+-]\d\d:\d\d)?)?/y;

class Scanner {
  readonly #text: string;
  #at: number;

  constructor(text: string) {
    this.#text = text;
    this.#at = text.startsWith("\ufeff") ? 1 : 0;
  }

  statements(): Statement[] {
    const statements: Statement[] = [];
    let table: readonly string[] = [];
    for (this.#take(BLANKS); this.#at < this.#text.length; this.#take(BLANKS)) {
      const start = this.#at;
      const brackets = /\[{0,2}/.exec(this.#text.slice(start, start + 2))?.[0] ?? "";
      this.#at += brackets.length;
      const keys = this.#keys();
      if (brackets === "") {
        this.#expect("=");
        const value = this.#value();
        statements.push({ kind: "pair", path: [...table, ...keys], value, start, end: this.#at });
      } else {
        this.#expect("]".repeat(brackets.length));
        table = keys;
        statements.push({ kind: brackets === "[" ? "table" : "list", path: keys, start, end: this.#at });
      }
      LINE_END.lastIndex = this.#at;
      if (!LINE_END.test(this.#text)) throw this.#wrong();
    }
    return statements;
  }

  #keys(): string[] {
    const keys: string[] = [];
    do {
      this.#take(SPACE);
      const written = this.#take(KEY);
      if (written === "") throw this.#wrong();
      keys.push(/^["']/.test(written) ? this.#unquoted(written) : written);
      this.#take(SPACE);
    } while (this.#text[this.#at] === "." && ++this.#at > 0);
    return keys;
  }

  #value(): TomlValue {
    this.#take(SPACE);
    const text = this.#take(TEXT);
    if (text !== "") return this.#unquoted(text);
    const char = this.#text[this.#at];
    if (char === "[") return this.#list();
    if (char === "{") return this.#object();
    const scalar = this.#take(SCALAR);
    if (scalar === "") throw this.#wrong();
    return new Scalar(scalar);
  }

  #list(): TomlValue {
    const values: TomlValue[] = [];
    this.#each("]", () => values.push(this.#value()));
    return values;
  }

  #object(): TomlValue {
    const pairs: Statement[] = [];
    this.#each("}", () => {
      const start = this.#at;
      const path = this.#keys();
      this.#expect("=");
      pairs.push({ kind: "pair", path, value: this.#value(), start, end: this.#at });
    });
    return together(pairs);
  }

  /** Reads what stands between commas up to `close`. */
  #each(close: string, read: () => void): void {
    this.#at++;
    for (this.#take(BLANKS); this.#text[this.#at] !== close; this.#take(BLANKS)) {
      read();
      this.#take(BLANKS);
      if (this.#text[this.#at] === close) break;
      this.#expect(",");
    }
    this.#at++;
  }

  #unquoted(written: string): string {
    const quotes = /^(?:"""|'''|.)/.exec(written)?.[0] ?? "";
    const inside = written.slice(quotes.length, -quotes.length);
    const text = quotes.length === 3 ? inside.replace(/^\r?\n/, "") : inside;
    return quotes.startsWith("'") ? text : text.replace(ESCAPE, (...found) => this.#unescaped(found));
  }

  #unescaped([, hex = "", fold, sign = ""]: readonly string[]): string {
    if (fold !== undefined) return "";
    const code = hex === "" ? SIGNS[sign]?.codePointAt(0) : Number.parseInt(hex.slice(1), 16);
    if (code === undefined || code > 0x10_ffff) throw this.#wrong();
    return String.fromCodePoint(code);
  }

  #expect(text: string): void {
    if (!this.#text.startsWith(text, this.#at)) throw this.#wrong();
    this.#at += text.length;
  }

  /** Takes what `pattern` (sticky) matches here; "" when it does not. */
  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [taken = ""] = pattern.exec(this.#text) ?? [];
    this.#at += taken.length;
    return taken;
  }

  #wrong(): SyntaxError {
    return new SyntaxError(`line ${this.#text.slice(0, this.#at).split("\n").length} is no TOML`);
  }
}

const ESCAPE = /\\(?:(u[\dA-Fa-f]{4}|U[\dA-Fa-f]{8}|x[\dA-Fa-f]{2})|([ \t]*\r?\n\s*)|(.?))/g;
const SIGNS: { readonly [sign: string]: string } = {
  ...{ b: "\b", t: "\t", n: "\n", f: "\f", r: "\r", e: "\u001b", '"': '"', "\\": "\\" },
};
