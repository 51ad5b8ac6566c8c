import type { Block, Inline, ListItem } from "../../../transcript/markdown/tree.ts";

/** `blocks` in portions of about `most` elements each, so that a text of any length is shown bit by bit. */
export function portions(blocks: readonly Block[], most: number): Block[][] {
  const all: Block[][] = [[]];
  let size = 0;
  for (const block of blocks.flatMap((one) => split(one, most))) {
    const own = sizeOf(block);
    if (size > 0 && size + own > most) {
      all.push([]);
      size = 0;
    }
    all.at(-1)?.push(block);
    size += own;
  }
  return all;
}

/** A list or a table that is longer than a portion as several; any other block as it is. */
function split(block: Block, most: number): Block[] {
  if (sizeOf(block) <= most) return [block];
  if (block.type === "list") {
    let start = block.start;
    return grouped(block.items, itemSize, most).map((items) => {
      const part = { ...block, items, ...(start !== undefined && { start }) };
      if (start !== undefined) start += items.length;
      return part;
    });
  }
  if (block.type !== "table") return [block];
  return grouped(block.rows, (row) => 1 + inlineSize(row.flat()) + row.length, most).map((rows) => ({
    ...block,
    rows,
  }));
}

function grouped<T>(parts: readonly T[], sizeOfPart: (part: T) => number, most: number): T[][] {
  const groups: T[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const part of parts) {
    size += sizeOfPart(part);
    if (size > most) {
      groups.push([]);
      size = sizeOfPart(part);
    }
    groups.at(-1)?.push(part);
  }
  return groups;
}

/** About how many elements `block` is shown by. */
function sizeOf(block: Block): number {
  switch (block.type) {
    case "rule":
      return 1;
    case "code":
      return 6;
    case "heading":
    case "paragraph":
      return 1 + inlineSize(block.children);
    case "quote":
      return 1 + sum(block.children.map(sizeOf));
    case "list":
      return 1 + sum(block.items.map(itemSize));
    case "table":
      return 2 + sum([block.head, ...block.rows].map((row) => 1 + row.length + inlineSize(row.flat())));
  }
}

function itemSize(item: ListItem): number {
  return 1 + sum(item.children.map(sizeOf));
}

function inlineSize(inlines: readonly Inline[]): number {
  return sum(
    inlines.map((inline) =>
      inline.type === "text" ? 0 : 1 + ("children" in inline ? inlineSize(inline.children) : 0),
    ),
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
