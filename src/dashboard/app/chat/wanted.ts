import type { Item } from "../wire.ts";
import type { Direction } from "./find-record.ts";
import { type ChatRow, hasFailed } from "./rows.ts";

/** What a chat can be looked through for. */
export type Wanted = "prompt" | "error";

/** Whether an item is what is looked for. */
export const IS_WANTED: { readonly [W in Wanted]: (item: Item) => boolean } = {
  prompt: ({ kind }) => kind === "user",
  error: ({ error }) => error === true,
};

/** The key of the nearest item in `rows` above or below the row `here` that is `wanted`; undefined when there is none. */
export function wantedBeyond(
  rows: readonly ChatRow[],
  here: string | undefined,
  direction: Direction,
  wanted: (item: Item) => boolean,
): string | undefined {
  const at = rows.findIndex(({ key }) => key === here);
  const beyond = direction === "down" ? rows.slice(at + 1) : rows.slice(0, Math.max(at, 0)).reverse();
  for (const row of beyond) {
    const key = wantedKeyOf(row, wanted);
    if (key !== undefined) return key;
  }
  return undefined;
}

/** The key of the item in `row` that is wanted. */
function wantedKeyOf(row: ChatRow, wanted: (item: Item) => boolean): string | undefined {
  if (row.kind === "day") return undefined;
  if (row.kind === "call")
    return [row.call, ...row.outputs].find((held) => held !== undefined && wanted(held.item))?.key;
  if (row.kind !== "group") return wanted(row.held.item) ? row.key : undefined;
  if (row.open) return undefined;
  const call = row.calls.find((each) => hasFailed(each) && wantedKeyOf(each, wanted) !== undefined);
  return call && wantedKeyOf(call, wanted);
}
