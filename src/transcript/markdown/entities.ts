import { readable } from "../printable.ts";

/** Text with what a backslash or an entity stands for in its place. */
export function unescaped(text: string): string {
  return text.replace(ESCAPES, (all, char: string | undefined) => char ?? entity(all) ?? all);
}

/**
 * The character that an entity (`&amp;`, `&#38;`, `&#x26;`) stands for; undefined when its name is unknown. A character
 * that would not be readable is U+FFFD.
 */
export function entity(text: string): string | undefined {
  if (text[1] !== "#") return NAMED.get(text.slice(1, -1));
  const code = /x/i.test(text) ? Number.parseInt(text.slice(3), 16) : Number.parseInt(text.slice(2), 10);
  const known = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return (known && readable(String.fromCodePoint(code))) || "\ufffd";
}

const ENTITY = "&(?:#[xX][0-9a-fA-F]{1,6}|#[0-9]{1,7}|[a-zA-Z][a-zA-Z0-9]{1,31});";

/** An entity where a text is read. */
export const ENTITY_HERE = new RegExp(ENTITY, "y");

/** What a backslash takes its meaning from. */
export const PUNCTUATION = /[!-/:-@[-`{-~]/;

const ESCAPES = new RegExp(`\\\\(${PUNCTUATION.source})|${ENTITY}`, "g");

/** Of the two thousand names, those that people write. */
const NAMED = new Map(
  (
    "amp & lt < gt > quot \" apos ' nbsp \u00a0 copy © reg ® trade ™ hellip … mdash — ndash – lsquo ‘ rsquo ’ ldquo “ " +
    "rdquo ” laquo « raquo » bull • middot · larr ← uarr ↑ rarr → darr ↓ harr ↔ rArr ⇒ lArr ⇐ hArr ⇔ times × divide ÷ " +
    "minus − plusmn ± deg ° micro µ para ¶ sect § euro € pound £ yen ¥ cent ¢ le ≤ ge ≥ ne ≠ asymp ≈ equiv ≡ infin ∞ " +
    "sum ∑ radic √ check ✓ cross ✗ frac12 ½ frac14 ¼ frac34 ¾ sup1 ¹ sup2 ² sup3 ³ alpha α beta β gamma γ delta δ " +
    "Delta Δ epsilon ε lambda λ mu μ pi π sigma σ omega ω Omega Ω auml ä ouml ö uuml ü Auml Ä Ouml Ö Uuml Ü szlig ß " +
    "eacute é egrave è agrave à ccedil ç ntilde ñ iexcl ¡ iquest ¿ lbrace { rbrace } lbrack [ rbrack ] lpar ( rpar ) " +
    "ast * lowbar _ grave ` vert | verbar | bsol \\ sol / num # excl ! colon : commat @ dollar $ percnt % plus + equals ="
  )
    .split(" ")
    .flatMap((name, index, all) => (index % 2 === 0 ? [[name, all[index + 1] ?? ""] as const] : [])),
);
