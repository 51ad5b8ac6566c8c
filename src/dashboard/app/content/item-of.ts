import { withoutAnsi } from "../../../transcript/printable.ts";
import type { Item, UncutItem } from "../wire.ts";

/**
 * The one of `items`, all of one record, that tells `wanted` whole; undefined when none does, or when it can't be told
 * which. Of calls that look the same the first one is taken: they say the same.
 */
export function itemOf(items: readonly UncutItem[], wanted: Item): UncutItem | undefined {
  const alike = items.filter(
    (item) => item.kind === wanted.kind && (item.of === undefined) === (wanted.of === undefined),
  );
  const named = wanted.id === undefined ? undefined : alike.find(({ id }) => id === wanted.id);
  if (named !== undefined) return named;
  const [own, ...others] = alike.filter(({ tool }) => tool === wanted.tool);
  if (others.length === 0) return own ?? only(alike);
  return [own, ...others].find((item) => item !== undefined && tells(item, wanted));
}

function only<T>(all: readonly T[]): T | undefined {
  return all.length === 1 ? all[0] : undefined;
}

/** Whether what `wanted` says is what `item` says, as far as it goes. */
function tells(item: UncutItem, wanted: Item): boolean {
  return begins(item.summary, wanted.summary) && begins(item.text, wanted.text);
}

/** Whether `whole`, cut or not, is `part`. */
function begins(whole: string | undefined, part: string | undefined): boolean {
  if (part === undefined || whole === undefined) return part === whole;
  const plain = withoutAnsi(whole);
  return plain === part || (part.endsWith("…") && plain.startsWith(part.slice(0, -1)));
}
