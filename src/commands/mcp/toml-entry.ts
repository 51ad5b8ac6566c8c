import { statementsOf } from "./toml-text.ts";
import { type Statement, type TomlValue, together } from "./toml-value.ts";

/** The value of a TOML text. @throws SyntaxError: it is none, or can't be followed */
export function tomlOf(text: string): { readonly [key: string]: TomlValue } {
  return together(statementsOf(text));
}

/**
 * `text` with `lines`, a table with its header, in the place of all that is said of the table `path`, wherever that stands:
 * under headers of its own or of tables inside it, or in keys with dots. All else stays as it stands.
 * @throws SyntaxError: the text can't be followed
 */
export function withTomlTable(text: string, path: readonly string[], lines: readonly string[]): string {
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const written = lines.join(newline);
  const isOurs = (its: readonly string[]): boolean => path.every((key, index) => its[index] === key);
  let rest = text;
  let isPut = false;
  const spans = spansOf(statementsOf(text), isOurs);
  const place = spans.find(({ kind }) => kind !== "pair");
  for (const span of spans.reverse()) {
    isPut ||= span === place;
    const end = lineEnd(rest, span.end);
    const after = span === place ? rest.slice(end) : rest.slice(end).replace(/^\r?\n/, "");
    rest = rest.slice(0, span.start) + (span === place ? written : "") + after;
  }
  if (isPut) return rest;
  const gap = rest.trim() === "" ? "" : rest.endsWith("\n") ? newline : newline + newline;
  return `${rest}${gap}${written}${newline}`;
}

/** Where what is ours stands: a header with the pairs under it as one. */
function spansOf(statements: readonly Statement[], isOurs: (path: readonly string[]) => boolean) {
  const spans: { readonly kind: Statement["kind"]; readonly start: number; end: number }[] = [];
  let under: (typeof spans)[number] | undefined;
  for (const { kind, path, start, end } of statements) {
    if (kind === "pair" && under !== undefined) {
      under.end = end;
      continue;
    }
    const span = isOurs(path) ? { kind, start, end } : undefined;
    if (span !== undefined) spans.push(span);
    if (kind !== "pair") under = span;
  }
  return spans;
}

/** The end of the line, behind the comment that is left there of what was. */
function lineEnd(text: string, at: number): number {
  const [rest = ""] = /^[^\r\n]*/.exec(text.slice(at)) ?? [];
  return at + rest.length;
}
