import type { Item } from "../transcript/item.ts";
import { moment, shownLine } from "./untrusted.ts";

/** Items for a model to read; each begins with a line that no text of them can imitate, since it carries `word`. */
export function itemTexts(items: readonly Item[], word: string): string {
  return items.map((item) => itemText(item, word)).join("\n");
}

function itemText(item: Item, word: string): string {
  const { kind, at, tool, summary, text, subagent, ref, error, cut } = item;
  const facts = [
    word,
    kind,
    ...(tool === undefined ? [] : [shownLine(tool)]),
    ...(error ? ["error"] : []),
    moment(at),
    `ref=${ref}`,
    ...(cut ? ["(cut: read its ref for all of it)"] : []),
  ];
  const child = subagent && `subagent ${subagent.id} (${subagent.agent}): ${shownLine(subagent.title)}`;
  return [facts.join(" "), child, summary, text].filter((line) => line !== undefined && line !== "").join("\n");
}
