import { type Child, h } from "../dom.ts";
import { copyButton } from "../parts/copy.ts";
import type { App } from "../view.ts";
import { highlight } from "./highlight.ts";
import { longText } from "./long-text.ts";
import type { Limit } from "./pieces.ts";
import { scroller } from "./scroller.ts";

/** What of a block of code is shown at first. */
const FIRST: Limit = { lines: 40, characters: 8000 };

/** A block of code, named `label`, to be copied as `what`. The text must be readable already. */
export function codeBlock(app: Pick<App, "note">, text: string, label: string, what = "Code"): HTMLElement {
  const code = text.replace(/\n$/, "");
  const inner = h("code");
  const language = label.toLowerCase();
  const more = longText({
    text: code,
    first: FIRST,
    into: inner,
    render: (from, to) => coloured(code.slice(from, to), language),
  });
  return h(
    "figure",
    { class: "code" },
    h(
      "figcaption",
      {},
      h("span", {}, label),
      copyButton(app, "Copy", what, () => code),
    ),
    scroller(h("pre", { dir: "ltr" }, inner), label === "" ? "Code" : `Code, ${label}`),
    more,
  );
}

function coloured(code: string, language: string): Child {
  const tokens = language === "diff" ? changed(code) : highlight(code, language);
  if (tokens.length === 0) return code;
  return tokens.map(({ text, kind }) => (kind === undefined ? text : h("span", { class: `code-${kind}` }, text)));
}

/** The lines of a diff that say what changed; neighbours that look the same are one piece. */
function changed(diff: string): { readonly text: string; readonly kind?: string }[] {
  const kindOf = (line: string): string | undefined =>
    ({ "+": "added", "-": "removed", "@": "comment" })[line.charAt(0)];
  const tokens: { text: string; kind?: string }[] = [];
  for (const text of diff.split(/(?<=\n)/)) {
    const kind = kindOf(text);
    const last = tokens.at(-1);
    if (last !== undefined && last.kind === kind) last.text += text;
    else tokens.push(kind === undefined ? { text } : { text, kind });
  }
  return tokens;
}
