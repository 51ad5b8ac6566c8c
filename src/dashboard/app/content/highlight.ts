/** What stands out in a piece of code. */
export type Kind = "comment" | "string" | "keyword";

/** A piece of code; without a kind it looks as all does. */
export interface Token {
  readonly text: string;
  readonly kind?: Kind;
}

/**
 * `code` in pieces, by what most languages have in common; [] for a language where that would be wrong. At most `most` of
 * them have a kind: what would be too many, keywords first, looks as all does.
 */
export function highlight(code: string, language: string, most = 160): Token[] {
  const name = language.toLowerCase();
  const comment = COMMENTS.find(([names]) => names.test(name))?.[1];
  if (comment === undefined) return [];
  const tokens = tokensOf(code, new RegExp(`(${comment})|(${STRING})|\\b(?:${KEYWORDS})\\b(?![-:])`, "gm"));
  const shown = KINDS.findIndex(
    (_, at) => tokens.filter(({ kind }) => kind && KINDS.indexOf(kind) >= at).length <= most,
  );
  if (shown < 0) return [];
  return tokens.map((token) => (token.kind && KINDS.indexOf(token.kind) < shown ? { text: token.text } : token));
}

function tokensOf(code: string, pattern: RegExp): Token[] {
  const tokens: Token[] = [];
  let end = 0;
  for (const found of code.matchAll(pattern)) {
    const [text, comment, string] = found;
    if (found.index > end) tokens.push({ text: code.slice(end, found.index) });
    tokens.push({ text, kind: comment !== undefined ? "comment" : string !== undefined ? "string" : "keyword" });
    end = found.index + text.length;
  }
  if (end < code.length) tokens.push({ text: code.slice(end) });
  return tokens;
}

/** The kinds, the first to be left out first. */
const KINDS: readonly Kind[] = ["keyword", "string", "comment"];

const HASH = "(?:^|(?<=\\s))#.*";
const SLASHES = "//.*|/\\*[\\s\\S]*?(?:\\*/|$(?![\\s\\S]))";

/** What a comment is, by the name of the language. */
const COMMENTS: readonly (readonly [names: RegExp, comment: string])[] = [
  [/^(?:py(?:thon)?|sh|bash|zsh|shell|fish|rb|ruby|ya?ml|toml|perl|r|dockerfile|make(?:file)?|elixir|nix)$/, HASH],
  [/^(?:sql|lua|haskell|hs)$/, "--.*"],
  [/^php$/, `${SLASHES}|${HASH}`],
  [
    /^(?:[jt]sx?|[cm][jt]s|(?:java|type)script|jsonc?5?|java|c|h|cc|cpp|c\+\+|cs|csharp|go|rust|rs|swift|kotlin|kt|scala|dart|zig|s?css|less|proto)$/,
    SLASHES,
  ],
];

const STRING = "\"(?:[^\"\\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\\n]|\\\\.)*'|`(?:[^`\\\\]|\\\\.)*`";

const KEYWORDS =
  "a(?:bstract|s|sync|wait)|break|c(?:ase|atch|lass|onst|ontinue)|def(?:ault|er)?|do|el(?:if|se)|end|enum|esac|except|export|extends|fi(?:nally)?|f(?:n|or|rom|unc|unction)|go|i(?:f|mpl|mplements|mport|n|nterface|s)|lambda|let|local|match|mod|mut|n(?:ew|ot|one|ull)|package|pass|private|protected|pub(?:lic)?|raise|return|self|static|struct|super|switch|then|th(?:is|row|rows)|tr(?:ait|y)|type(?:of)?|use|var|void|wh(?:ere|ile)|with|yield|true|false|True|False|None|SELECT|FROM|WHERE|JOIN|INSERT|INTO|UPDATE|DELETE|CREATE|TABLE|AND|OR|NOT|NULL|ORDER|GROUP|BY|LIMIT|AS|ON|SET|VALUES";
