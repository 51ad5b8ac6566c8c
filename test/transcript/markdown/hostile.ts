/** A text of `length` characters that repeats `piece`. */
export function repeated(piece: string, length: number): string {
  return piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
}

/** Texts of about `length` characters that make readers of Markdown slow, deep, or talkative. */
export function hostileTexts(length: number): Record<string, string> {
  const many = (piece: string, share = 1) => repeated(piece, Math.floor(length / share));
  const lines = (share: number, line: (index: number) => string) =>
    Array.from({ length: Math.floor(length / share) }, (_, index) => line(index)).join("\n");
  const root = Math.floor(Math.sqrt(length));
  return {
    "opening brackets": many("["),
    "opening image brackets": many("!["),
    "nested brackets": many("[", 2) + many("]", 2),
    "nested labels": many("[a", 2) + many("]", 2),
    "links around a link": many("[", 2) + many("[a](b)", 2),
    "images around links": many("![", 2) + many("[a](b)", 2),
    "nested images": many("![a", 3) + many("](b)", 1.5),
    "unfinished targets": many("[a](b"),
    "unfinished targets in angles": many("[a](<b"),
    "unfinished titles": many('[a](b "'),
    "titles of all kinds": many("[a](b \"'("),
    "brackets in targets": many("[a](((("),
    "unfinished labels": many("[a]["),
    "long labels": many(`[${"a".repeat(990)}`),
    "emphasis and strong begin": many("*a **a "),
    "runs of all lengths": lines(root / 2, (index) => `${"*".repeat(index + 1)}a`),
    "one run about a letter": `${many("*", 2)}a${many("*", 2)}`,
    "runs that both begin and end": many("a***b**c*"),
    "marks that don't fit": many("*a _b ", 2) + many("a* b_ ", 2),
    "marks that end what never began": many("*a ", 2) + many("b_ ", 2),
    "nested emphasis": many("*a _b ", 2) + many("b_ a* ", 2),
    "both marks": many("_*"),
    strikes: many("~~a "),
    "rising runs of backticks": lines(root / 2, (index) => "`".repeat(index + 1)),
    "short and long runs of backticks": many("`a``b"),
    "deep quotes": many(">"),
    "deep quotes on every line": lines(41, () => `${">".repeat(39)}a`),
    "deep lists on a line": `${many("- ")}a`,
    "rules that are none": `${many("* ")}x`,
    "rules that are none, with the mark at the end": `${many("* ", 2)}x${many(" *", 2)}`,
    "deep lists": lines(root / 2, (index) => `${" ".repeat(2 * index)}- a`),
    "blank lines in deep lists": `${Array.from({ length: 40 }, (_, index) => `${" ".repeat(2 * index)}- a\n`).join("")}${many("\n")}`,
    newlines: many("\n"),
    spaces: `a${many(" ")}a`,
    "spaces and marks after a heading": `# ${many(" #  ")}x`,
    "marks after a heading": `# ${many("#")}x`,
    "underlines of headings": many("a\n===\n"),
    definitions: lines(12, (index) => `[a${index}]: /u`),
    "definitions with unfinished titles": many('[a]: u "x\n'),
    "unfinished definitions": many("[a]:\n"),
    "a long definition, used often": `[a]: https://${many("x", 2)}\n\n${many("[a]", 2)}`,
    "long rows of a table": `${many("|a", 3)}\n${many("|-", 3)}\n${many("|\n", 3)}`,
    "many rows of a table": `|a|b|\n|-|-|\n${many("|1|2|\n")}`,
    "beginnings of tables": many("|a|\n|-|-|\n"),
    bars: many("|"),
    entities: many("&#1"),
    angles: many("<ab:"),
    "a long address of mail": `<a@${many("a.")}`,
    "bare addresses": many("http://a("),
    "a bare address with brackets after it": `http://a${many(")")}`,
    "a bare address with stops after it": `http://a${many(".")}`,
    fences: many("```\n"),
    "a long fence": `${many("`")}x\`\n`,
    "tabs in a list": `- ${many("\t\t\ta\n")}`,
    "lists of one": many("- a\n+ b\n"),
    "lazy lines": `> a\n${many("a\n")}`,
    "breaks of lines": many("a  \n"),
    "escape sequences": many("\u001b["),
  };
}
