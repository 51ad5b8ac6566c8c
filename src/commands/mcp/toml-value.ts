/** A number, a time or a truth value of TOML, as it is written. */
export class Scalar {
  readonly written: string;

  constructor(written: string) {
    this.written = written;
  }
}

/** A value of TOML: a text, a list, an object for a table that is written as a value; all else stays as it is written. */
export type TomlValue = string | Scalar | readonly TomlValue[] | { readonly [key: string]: TomlValue };

/** A header, or a key with its value. */
export interface Statement {
  readonly kind: "table" | "list" | "pair";
  /** All keys from the root on. */
  readonly path: readonly string[];
  /** Of a pair. */
  readonly value?: TomlValue;
  readonly start: number;
  /** Behind it, in front of the comment that may follow. */
  readonly end: number;
}

/** A table that is being put together. `by`: what made it, since each is made once only. */
interface Table {
  readonly members: Map<string, Table | Table[] | { readonly value: TomlValue }>;
  by: "way" | "header" | "key";
}

/** What statements say together. @throws SyntaxError: one says what another has said already */
export function together(statements: readonly Statement[]): { readonly [key: string]: TomlValue } {
  const root: Table = { members: new Map(), by: "header" };
  let at = root;
  let base = 0;
  for (const { kind, path, value = "" } of statements) {
    const keys = kind === "pair" ? path.slice(base) : path;
    const last = keys.at(-1) ?? "";
    const { members } = keys
      .slice(0, -1)
      .reduce((table, key) => entered(table, key, kind === "pair" ? "key" : "way", path), kind === "pair" ? at : root);
    const found = members.get(last);
    if (kind === "pair") {
      if (found !== undefined) throw twice(path);
      members.set(last, { value });
      continue;
    }
    base = path.length;
    at = found !== undefined && "by" in found && kind === "table" ? found : { members: new Map(), by: "way" };
    if (kind === "list" && Array.isArray(found)) found.push(at);
    else if (found === undefined) members.set(last, kind === "list" ? [at] : at);
    else if (found !== at || at.by !== "way") throw twice(path);
    at.by = "header";
  }
  return plain(root);
}

function entered({ members }: Table, key: string, by: Table["by"], path: readonly string[]): Table {
  const found = members.get(key);
  const table = Array.isArray(found) ? found.at(-1) : found;
  if (table === undefined) {
    const made: Table = { members: new Map(), by };
    members.set(key, made);
    return made;
  }
  // Keys with dots go on only with what keys with dots have begun.
  if (!("by" in table) || (by === "key" && table.by !== "key")) throw twice(path);
  return table;
}

function plain({ members }: Table): { readonly [key: string]: TomlValue } {
  return Object.fromEntries(
    [...members].map(([key, held]) => [
      key,
      Array.isArray(held) ? held.map(plain) : "by" in held ? plain(held) : held.value,
    ]),
  );
}

function twice(path: readonly string[]): SyntaxError {
  return new SyntaxError(`${path.join(".")} is given twice`);
}
