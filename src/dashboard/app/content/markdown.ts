import { parseMarkdown } from "../../../transcript/markdown/parse.ts";
import type { Block, Inline, List, ListItem, Style, Table } from "../../../transcript/markdown/tree.ts";
import { append, type Child, h } from "../dom.ts";
import type { App } from "../view.ts";
import { codeBlock } from "./code.ts";
import { outLink } from "./links.ts";
import { portions } from "./portions.ts";
import { scroller } from "./scroller.ts";

type Host = Pick<App, "note">;

/** About how many elements of a text are shown at once. */
const PORTION = 600;

/** `text`, which is Markdown, as elements. Nothing in it runs, styles or loads anything; a very long one is shown bit by bit. */
export function markdown(text: string, app: Host): HTMLElement {
  const element = h("div", { class: "md" });
  const waiting = portions(parseMarkdown(text), PORTION);
  const show = (): void =>
    append(
      element,
      (waiting.shift() ?? []).map((block) => blockOf(block, app)),
    );
  show();
  if (waiting.length > 0) {
    const more = h("button", { class: "button small more" }, "Show more of this text");
    more.addEventListener("click", () => {
      show();
      if (waiting.length > 0) element.append(more);
      else more.remove();
      more.focus();
    });
    element.append(more);
  }
  return element;
}

/** The level of a heading on the page, whose own are above. */
const LEVELS = ["h3", "h4", "h5", "h6", "h6", "h6"] as const;

function blockOf(block: Block, app: Host): Node {
  switch (block.type) {
    case "heading":
      return h(LEVELS[block.level - 1] ?? "h6", { dir: "auto" }, inlinesOf(block.children));
    case "paragraph":
      return h("p", { dir: "auto" }, inlinesOf(block.children));
    case "code":
      return codeBlock(app, block.text, block.language.slice(0, 40));
    case "quote":
      return h(
        "blockquote",
        { dir: "auto" },
        block.children.map((child) => blockOf(child, app)),
      );
    case "list":
      return listOf(block, app);
    case "rule":
      return h("hr");
    case "table":
      return tableOf(block);
  }
}

function listOf({ start, items, tight }: List, app: Host): Node {
  const children = items.map((item) => itemOf(item, tight, app));
  if (start === undefined) return h("ul", {}, children);
  return h("ol", start === 1 ? {} : { start }, children);
}

/** An item; its paragraphs are lines of it in a tight list, and a task's first line is what its box is called. */
function itemOf({ checked, children }: ListItem, tight: boolean, app: Host): Node {
  const nodes = children.map((child, index): Child => {
    if (child.type !== "paragraph") return blockOf(child, app);
    const inlines = inlinesOf(child.children);
    const said = checked !== undefined && index === 0 ? labelled(checked, inlines) : inlines;
    // Two paragraphs of a tight item are lines, and what stands behind one begins a line anyhow.
    return tight && index === 0 ? said : h("p", { dir: "auto" }, said);
  });
  const lacks = checked !== undefined && children[0]?.type !== "paragraph";
  const attributes = { dir: "auto", class: checked === undefined ? undefined : "task" };
  return h("li", attributes, lacks && labelled(checked, []), nodes);
}

function labelled(checked: boolean, inlines: readonly Child[]): Node {
  return h("label", {}, h("input", { type: "checkbox", disabled: true, checked }), inlines);
}

function tableOf({ align, head, rows }: Table): Node {
  const row = (name: "th" | "td", cells: readonly Inline[][]): Node => {
    const missing = align.length - cells.length;
    return h(
      "tr",
      {},
      cells.map((cell, index) => {
        const side = align[index];
        const attributes = { dir: "auto", class: side && `to-${side}`, scope: name === "th" && "col" };
        return h(name, attributes, inlinesOf(cell));
      }),
      missing > 0 && h("td", { colspan: missing }),
    );
  };
  const body =
    rows.length > 0 &&
    h(
      "tbody",
      {},
      rows.map((cells) => row("td", cells)),
    );
  return scroller(h("div", { class: "table" }, h("table", {}, h("thead", {}, row("th", head)), body)), "Table");
}

const STYLES: Readonly<Record<Style, "em" | "strong" | "s">> = { emphasis: "em", strong: "strong", strike: "s" };

function inlinesOf(inlines: readonly Inline[], isLinked = false): Child[] {
  return inlines.map((inline): Child => {
    switch (inline.type) {
      case "text":
        return inline.text;
      case "code":
        return h("code", {}, inline.text);
      case "break":
        return h("br");
      case "link":
        return linkOf(inline.target, inline.children, isLinked);
      case "image": {
        const text = inline.alt === "" ? "Image" : `Image: ${inline.alt}`;
        return linkOf(inline.target, [{ type: "text", text }], isLinked);
      }
      default:
        return h(STYLES[inline.type], {}, inlinesOf(inline.children, isLinked));
    }
  });
}

/** A link, or where none may be (as in another one) its text and its target. */
function linkOf(target: string, children: readonly Inline[], isLinked: boolean): Child {
  const shown = children.length > 0 ? children : [{ type: "text" as const, text: target }];
  const link = isLinked ? undefined : outLink(target, inlinesOf(shown, true));
  if (link !== undefined) return link;
  const [only] = shown;
  const isSaid = shown.length === 1 && (only?.type === "text" || only?.type === "code") && only.text === target;
  return [inlinesOf(shown, isLinked), target !== "" && !isSaid && ` (${target})`];
}
