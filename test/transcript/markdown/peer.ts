import MarkdownIt, { type Token } from "markdown-it";
import { markdownToHtml } from "../../../src/transcript/markdown/html.ts";
import { safeTarget } from "../../../src/transcript/markdown/links.ts";
import { readable } from "../../../src/transcript/printable.ts";

/**
 * `text` as HTML by markdown-it, with what we do otherwise everywhere: headings two levels down, links with `rel` or as
 * their text and target, images as links, alignment as an attribute, the language as `data-lang`.
 */
export function peerHtml(text: string): string {
  return normalised(peer.render(readable(text)));
}

/** `text` as HTML by us, to be compared: boxes of tasks as they are written, the cells that a row lacks one by one. */
export function ourHtml(text: string): string {
  return normalised(
    markdownToHtml(text)
      .replaceAll('<input type="checkbox" disabled> ', "[ ] ")
      .replaceAll('<input type="checkbox" disabled checked> ', "[x] ")
      .replace(/<td colspan="(\d+)"><\/td>/g, (_, count) => "<td></td>".repeat(Number(count))),
  );
}

const peer = new MarkdownIt({ html: false, linkify: true });
peer.validateLink = () => true;
peer.normalizeLink = (address) => address;
peer.normalizeLinkText = (address) => address;
peer.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
for (const schema of ["ftp:", "//", "mailto:"]) peer.linkify.add(schema, null);

peer.renderer.rules.fence = (tokens, index) => {
  const { content = "", info = "" } = tokens[index] ?? {};
  const language = peer.utils
    .unescapeAll(info)
    .trim()
    .split(/\s/)[0]
    ?.replace(/[^\w+#.-]/g, "");
  return `<pre><code${language ? ` data-lang="${language}"` : ""}>${peer.utils.escapeHtml(content)}</code></pre>\n`;
};

peer.core.ruler.push("ours", (state) => {
  for (const token of state.tokens) {
    if (/^heading_/.test(token.type)) token.tag = `h${Math.min(Number(token.tag.slice(1)) + 2, 6)}`;
    const align = /^t[hd]_open$/.test(token.type) ? attribute(token, "style").replace("text-align:", "") : "";
    if (align !== "") token.attrs = [["align", align]];
    if (token.children !== null)
      token.children = token.children.flatMap((child, index, all) => linked(child, index, all));
  }

  function linked(token: Token, index: number, all: readonly Token[]): Token[] {
    if (token.type === "link_open") return followable(token) ? [opened(token)] : [];
    if (token.type === "link_close") {
      const from = all.findLastIndex((other, at) => at < index && other.type === "link_open");
      const open = all[from];
      if (open === undefined || followable(open)) return [token];
      const target = attribute(open, "href");
      const only = index - from === 2 ? all[from + 1] : undefined;
      return target === "" || only?.content === target ? [] : [text(` (${target})`)];
    }
    if (token.type !== "image") return [token];
    const alt = peer.renderer.renderInlineAsText(token.children ?? [], peer.options, {});
    const said = text(alt === "" ? "Image" : `Image: ${alt}`);
    const target = attribute(token, "src");
    const within = all.slice(0, index).findLast(({ type }) => /^link_/.test(type));
    if (safeTarget(target) === undefined || (within?.type === "link_open" && followable(within))) {
      return target === "" ? [said] : [said, text(` (${target})`)];
    }
    const open = new state.Token("link_open", "a", 1);
    open.attrs = [["href", target]];
    const title = attribute(token, "title");
    if (title !== "") open.attrSet("title", title);
    return [opened(open), said, new state.Token("link_close", "a", -1)];
  }

  function text(content: string): Token {
    const token = new state.Token("text", "", 0);
    token.content = content;
    return token;
  }
});

function followable(token: Token): boolean {
  return safeTarget(attribute(token, "href")) !== undefined;
}

function opened(token: Token): Token {
  token.attrSet("href", safeTarget(attribute(token, "href")) ?? "");
  token.attrSet("rel", "noopener noreferrer nofollow");
  return token;
}

function attribute(token: Token, name: string): string {
  return String(token.attrGet(name) ?? "");
}

/** HTML without what makes no difference: how characters are escaped, and space between elements. */
function normalised(html: string): string {
  return html
    .replace(/&(?:#(\d+)|amp|lt|gt|quot);/g, (entity, code) => (code === undefined ? entity : escaped(Number(code))))
    .split(/(<pre>[\s\S]*?<\/pre>)/)
    .map((part) => (part.startsWith("<pre>") ? part : narrow(part)))
    .join("");
}

function narrow(html: string): string {
  return html
    .replace(/<td align="\w+"><\/td>/g, "<td></td>")
    .replace(/\s*\n\s*/g, "\n")
    .replace(/(<\/?(?:li|td|th|tr|p|h\d|ul|ol|blockquote|table|thead|tbody)\b[^>]*>)\s+/g, "$1")
    .replace(/\s+(<\/?(?:li|ul|ol|p|blockquote|h\d|hr|table)\b)/g, "$1")
    .trim();
}

function escaped(code: number): string {
  return peer.utils.escapeHtml(String.fromCharCode(code));
}
