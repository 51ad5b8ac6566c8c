import { readable } from "../printable.ts";
import { readBlocks } from "./blocks.ts";
import type { Block } from "./tree.ts";

/**
 * What `text` says in Markdown (CommonMark, and of GitHub's tables, strikethrough, tasks and bare addresses). It is made
 * readable first. HTML in it is no HTML but text, except `<br>`. Any text is Markdown: this never fails, takes time in
 * proportion to the text, and gives a tree whose depth has a bound, so that it can be walked by recursion.
 */
export function parseMarkdown(text: string): Block[] {
  return readBlocks(readable(text));
}
