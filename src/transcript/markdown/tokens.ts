import type { Run } from "./emphasis.ts";
import type { Target } from "./links.ts";
import { type Inline, MOST_DEPTH, type Style } from "./tree.ts";

/** What a text is made of before it is known what stands in what. */
export type Token = Inline | Run | Opening | { type: "end"; text: string };

/** A bracket that begins a link or an image if `link` is known, else is text. */
export interface Opening {
  type: "begin";
  image: boolean;
  link?: Target;
}

/** The tokens as a tree. What would stand in too many others is text, and so is an address within a link. */
export function nested(tokens: readonly Token[]): Inline[] {
  const root: Inline[] = [];
  const open: { children: Inline[]; opening?: Opening }[] = [{ children: root }];
  let beyond = 0;
  let links = 0;
  const top = () => open.at(-1)?.children ?? root;
  const text = (text: string) => addText(top(), text);

  function begin(mark: string, opening?: Opening): void {
    if (open.length > MOST_DEPTH) {
      beyond++;
      text(mark);
    } else {
      open.push({ children: [], opening });
      if (opening !== undefined && !opening.image) links++;
    }
  }

  function end(mark: string, style?: Style): void {
    if (beyond > 0) {
      beyond--;
      text(mark);
      return;
    }
    const { children, opening } = open.pop() ?? { children: [] };
    if (style !== undefined) top().push({ type: style, children });
    else if (opening?.link !== undefined) {
      const { target, title } = opening.link;
      if (opening.image) top().push({ type: "image", target, title, alt: textOf(children) });
      else top().push({ type: "link", target, title, children });
      if (!opening.image) links--;
    }
  }

  for (const token of tokens) {
    if (token.type === "text") text(token.text);
    else if (token.type === "run") {
      for (const width of token.ends) end(token.char.repeat(Number(width)), styleOf(token, width));
      if (token.left > 0) text(token.char.repeat(token.left));
      for (let at = token.begins.length - 1; at >= 0; at--) begin(token.char.repeat(Number(token.begins[at])));
    } else if (token.type === "begin") {
      const mark = token.image ? "![" : "[";
      if (token.link === undefined) text(mark);
      else begin(mark, token);
    } else if (token.type === "end") end(token.text);
    else if (token.type === "link" && links > 0) text(textOf(token.children));
    else top().push(token);
  }
  return root;
}

/** Adds text to what comes before it, so that text is in one piece. */
export function addText(into: Token[], text: string): void {
  const last = into.at(-1);
  if (last?.type === "text") last.text += text;
  else into.push({ type: "text", text });
}

function styleOf({ char }: Run, width: string): Style {
  if (char === "~") return "strike";
  return width === "2" ? "strong" : "emphasis";
}

function textOf(inlines: readonly Inline[]): string {
  return inlines
    .map((inline) => {
      if (inline.type === "image") return inline.alt;
      if (inline.type === "break") return "\n";
      return "children" in inline ? textOf(inline.children) : inline.text;
    })
    .join("");
}
