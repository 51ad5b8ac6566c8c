/** A value in a JSON text with comments, and where it stands. */
interface Spanned {
  readonly value: unknown;
  readonly start: number;
  readonly end: number;
  /** Of an object: its members, in order. */
  readonly members?: readonly Member[];
}

/** A member of an object. */
interface Member {
  readonly key: string;
  /** Where its key begins. */
  readonly start: number;
  readonly held: Spanned;
  /** Whether a comma follows it. */
  readonly comma: boolean;
}

/** The value of a JSON text without comments and commas behind the last. @throws SyntaxError */
export function strictJsonOf(text: string): unknown {
  return new Scanner(text, "strict").whole().value;
}

/** The value of a JSON text, in which comments and commas behind the last may stand. @throws SyntaxError */
export function jsonOf(text: string): unknown {
  return new Scanner(text).whole().value;
}

/**
 * `text` with `value` under the keys `path` of its objects; all else stays as it stands, comments too. What stands there
 * already is replaced, objects on the way that are missing are made.
 * @throws SyntaxError: it is no JSON, or one on the way is no object
 */
export function withJsonValue(text: string, path: readonly [string, string], value: unknown): string {
  const root = new Scanner(text).whole();
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const unit = /\n([ \t]+)"/.exec(text)?.[1] ?? "  ";
  const written = (what: unknown, indent: string): string =>
    JSON.stringify(what, undefined, unit).replaceAll("\n", newline + indent);
  const [outer, inner] = path;
  const place = memberOf(root, outer);
  if (place === undefined) return inserted(text, root, "", outer, written({ [inner]: value }, unit), { newline, unit });
  const indent = indentAt(text, place.start);
  const held = memberOf(place.held, inner);
  if (held === undefined) {
    return inserted(text, place.held, indent, inner, written(value, indent + unit), { newline, unit });
  }
  const { start, end } = held.held;
  return text.slice(0, start) + written(value, indentAt(text, held.start)) + text.slice(end);
}

function memberOf({ members }: Spanned, key: string): Member | undefined {
  if (members === undefined) throw new SyntaxError("it is no object");
  // As `JSON.parse` has it, the last of several counts.
  return members.findLast((member) => member.key === key);
}

/** The blanks that the line begins with on which `at` stands. */
function indentAt(text: string, at: number): string {
  const line = text.lastIndexOf("\n", at) + 1;
  return /^[ \t]*/.exec(text.slice(line, at))?.[0] ?? "";
}

/** A member put behind the last of an object, on a line of its own, in front of what stands below it. */
function inserted(
  text: string,
  { start, end, members = [] }: Spanned,
  indent: string,
  key: string,
  written: string,
  { newline, unit }: { readonly newline: string; readonly unit: string },
): string {
  const last = members.at(-1);
  const close = end - 1;
  const comma = last === undefined || last.comma ? "" : ",";
  const afterLast = last?.held.end ?? start + 1;
  const body = text.slice(afterLast, close).trimEnd();
  const blanks = text.slice(afterLast + body.length, close);
  const member = `${newline}${indent}${unit}${JSON.stringify(key)}: ${written}`;
  const tail = blanks.includes("\n") ? blanks : `${newline}${indent}`;
  return text.slice(0, afterLast) + comma + body + member + tail + text.slice(close);
}

/** A text, or another value that is no list and no object. */
const WORD = /"(?:[^"\\]|\\.)*"|[^\s,:\]}/"]+/y;
/** Blanks, or one comment. */
const BLANKS = /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\//y;

class Scanner {
  readonly #text: string;
  readonly #form: "strict" | "with comments";
  #at = 0;

  constructor(text: string, form: "strict" | "with comments" = "with comments") {
    this.#text = text;
    this.#form = form;
    if (text.startsWith("\ufeff")) this.#at = 1;
  }

  /** The one value of the whole text. */
  whole(): Spanned {
    this.#blanks();
    const value = this.#value();
    this.#blanks();
    if (this.#at < this.#text.length) throw this.#wrong();
    return value;
  }

  #value(): Spanned {
    const char = this.#text[this.#at];
    if (char === "{") return this.#object();
    if (char === "[") return this.#list();
    const start = this.#at;
    const word = this.#take(WORD);
    if (word === "") throw this.#wrong();
    try {
      return { value: JSON.parse(word), start, end: this.#at };
    } catch {
      throw this.#wrong();
    }
  }

  #object(): Spanned {
    const start = this.#at++;
    const members: Member[] = [];
    this.#each("}", () => {
      const at = this.#at;
      const { value: key } = this.#value();
      if (typeof key !== "string") throw this.#wrong();
      this.#blanks();
      this.#expect(":");
      this.#blanks();
      const held = this.#value();
      this.#blanks();
      members.push({ key, start: at, held, comma: this.#text[this.#at] === "," });
    });
    const value = Object.fromEntries(members.map(({ key, held }) => [key, held.value]));
    return { value, start, end: this.#at, members };
  }

  #list(): Spanned {
    const start = this.#at++;
    const value: unknown[] = [];
    this.#each("]", () => {
      value.push(this.#value().value);
      this.#blanks();
    });
    return { value, start, end: this.#at };
  }

  /** Reads what stands between commas up to `close`. */
  #each(close: string, read: () => void): void {
    for (this.#blanks(); this.#text[this.#at] !== close; this.#blanks()) {
      read();
      if (this.#text[this.#at] === close) break;
      this.#expect(",");
      this.#blanks();
      if (this.#form === "strict" && this.#text[this.#at] === close) throw this.#wrong();
    }
    this.#at++;
  }

  #expect(char: string): void {
    if (this.#text[this.#at] !== char) throw this.#wrong();
    this.#at++;
  }

  #blanks(): void {
    for (let taken = this.#take(BLANKS); taken !== ""; taken = this.#take(BLANKS)) {
      if (this.#form === "strict" && taken.startsWith("/")) throw this.#wrong();
    }
  }

  /** Takes what `pattern` (sticky) matches here; "" when it does not. */
  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [taken = ""] = pattern.exec(this.#text) ?? [];
    this.#at += taken.length;
    return taken;
  }

  #wrong(): SyntaxError {
    return new SyntaxError(`line ${this.#text.slice(0, this.#at).split("\n").length} is no JSON`);
  }
}
