import { htmlText } from "../html-text.ts";
import { safeTarget } from "./links.ts";
import { parseMarkdown } from "./parse.ts";
import type { Align, Block, Inline, ListItem, Style, TableCell } from "./tree.ts";

/**
 * `text`, which is Markdown, as HTML that is safe whatever the text says: known elements only, no identifiers, no classes, no
 * styles, nothing that is loaded. Headings stand at level 3 and below. A link that may not be followed shows its target.
 */
export function markdownToHtml(text: string): string {
  const out: string[] = [];
  for (const block of parseMarkdown(text)) addBlock(out, block);
  return out.join("");
}

function addBlock(out: string[], block: Block): void {
  switch (block.type) {
    case "heading": {
      const level = Math.min(block.level + 2, 6);
      addElement(out, `h${level}`, block.children, "\n");
      return;
    }
    case "paragraph":
      addElement(out, "p", block.children, "\n");
      return;
    case "code": {
      const language = block.language.replace(/[^\w+#.-]/g, "").slice(0, 40);
      const lang = language === "" ? "" : ` data-lang="${language}"`;
      out.push(`<pre><code${lang}>`, htmlText(block.text), "</code></pre>\n");
      return;
    }
    case "quote":
      out.push("<blockquote>\n");
      for (const child of block.children) addBlock(out, child);
      out.push("</blockquote>\n");
      return;
    case "list": {
      const name = block.start === undefined ? "ul" : "ol";
      out.push(`<${name}${(block.start ?? 1) === 1 ? "" : ` start="${block.start}"`}>\n`);
      for (const item of block.items) addItem(out, item, block.tight);
      out.push(`</${name}>\n`);
      return;
    }
    case "rule":
      out.push("<hr>\n");
      return;
    case "table":
      out.push("<table>\n<thead>\n");
      addRow(out, "th", block.head, block.align);
      out.push("</thead>\n");
      if (block.rows.length > 0) out.push("<tbody>\n");
      for (const row of block.rows) addRow(out, "td", row, block.align);
      out.push(block.rows.length > 0 ? "</tbody>\n</table>\n" : "</table>\n");
  }
}

/** An item; its paragraphs are lines of it when the list is tight. */
function addItem(out: string[], item: ListItem, tight: boolean): void {
  const box = item.checked === undefined ? "" : `<input type="checkbox" disabled${item.checked ? " checked" : ""}> `;
  const [first] = item.children;
  out.push("<li>");
  if (tight || first?.type !== "paragraph") out.push(box);
  if (!tight && first !== undefined) out.push("\n");
  for (const [index, child] of item.children.entries()) {
    if (child.type !== "paragraph") {
      if (tight && index > 0 && item.children[index - 1]?.type === "paragraph") out.push("\n");
      addBlock(out, child);
    } else if (tight) addInlines(out, child.children);
    else {
      out.push("<p>", index === 0 ? box : "");
      addInlines(out, child.children);
      out.push("</p>\n");
    }
  }
  out.push("</li>\n");
}

/** A row; what it lacks is one wide cell, so that rows of nothing don't grow to many times their length. */
function addRow(out: string[], name: "th" | "td", cells: readonly TableCell[], align: readonly Align[]): void {
  out.push("<tr>\n");
  for (const [index, cell] of cells.entries()) {
    const side = align[index];
    addElement(out, name, cell, "\n", side === undefined ? "" : ` align="${side}"`);
  }
  const missing = align.length - cells.length;
  if (missing > 0) out.push(missing === 1 ? "<td></td>\n" : `<td colspan="${missing}"></td>\n`);
  out.push("</tr>\n");
}

function addElement(out: string[], name: string, children: readonly Inline[], after = "", attributes = ""): void {
  out.push(`<${name}${attributes}>`);
  addInlines(out, children);
  out.push(`</${name}>${after}`);
}

const STYLES: Record<Style, string> = { emphasis: "em", strong: "strong", strike: "s" };

function addInlines(out: string[], inlines: readonly Inline[], linked = false): void {
  for (const inline of inlines) {
    switch (inline.type) {
      case "text":
        out.push(htmlText(inline.text));
        break;
      case "code":
        out.push("<code>", htmlText(inline.text), "</code>");
        break;
      case "break":
        out.push("<br>\n");
        break;
      case "link":
        addLink(out, inline.target, inline.title, inline.children, linked);
        break;
      case "image": {
        const text = inline.alt === "" ? "Image" : `Image: ${inline.alt}`;
        addLink(out, inline.target, inline.title, [{ type: "text", text }], linked);
        break;
      }
      default:
        out.push(`<${STYLES[inline.type]}>`);
        addInlines(out, inline.children, linked);
        out.push(`</${STYLES[inline.type]}>`);
    }
  }
}

/** A link, or where none may be its text and target. */
function addLink(out: string[], target: string, title: string, children: readonly Inline[], linked: boolean): void {
  const href = linked ? undefined : safeTarget(target);
  if (href !== undefined) {
    const hint = title === "" ? "" : ` title="${htmlText(title)}"`;
    out.push(`<a href="${htmlText(href)}"${hint} rel="noopener noreferrer nofollow">`);
    addInlines(out, children, true);
    out.push("</a>");
    return;
  }
  addInlines(out, children, linked);
  const [only] = children;
  const said = children.length === 1 && (only?.type === "text" || only?.type === "code") && only.text === target;
  if (target !== "" && !said) out.push(` (${htmlText(target)})`);
}
