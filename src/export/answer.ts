import { escaped } from "./html-text.ts";

/** `text` as paragraphs of safe HTML. */
export function markdownToHtml(text: string): string {
  return escaped(text)
    .split(/\n{2,}/)
    .map((paragraph) => `<p>${paragraph}</p>`)
    .join("");
}
