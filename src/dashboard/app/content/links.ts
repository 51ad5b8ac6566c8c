import { readBare } from "../../../transcript/markdown/addresses.ts";
import { safeTarget } from "../../../transcript/markdown/links.ts";
import { readableLine } from "../../../transcript/printable.ts";
import { type Child, h } from "../dom.ts";

/** A link that leads out of the page, to a foreign `target`; undefined when that is no address that may be followed. */
export function outLink(target: string, ...children: readonly Child[]): HTMLAnchorElement | undefined {
  const href = safeTarget(target);
  if (href === undefined) return undefined;
  const attributes = { href, title: readableLine(href), rel: "noreferrer noopener", target: "_blank" };
  return h("a", attributes, ...children);
}

/** `text` with the addresses on the web in it as links. */
export function linked(text: string): readonly Child[] {
  const parts: Child[] = [];
  let end = 0;
  for (const { index } of text.matchAll(/https?:\/\//gi)) {
    const address = index < end ? undefined : readBare(text, index);
    const link = address && outLink(address.target, address.text);
    if (address === undefined || link === undefined) continue;
    if (index > end) parts.push(text.slice(end, index));
    parts.push(link);
    end = address.end;
  }
  return [...parts, text.slice(end)];
}
