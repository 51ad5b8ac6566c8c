import { type Child, fill } from "../dom.ts";

/**
 * Makes `children` all that stands in `parent`. The focus, where it was on something in there, goes to what stands in its
 * place now, or `instead` where there is nothing to press any more.
 */
export function refill(parent: HTMLElement, children: readonly Child[], instead?: () => void): void {
  const at = stopsIn(parent).indexOf(document.activeElement);
  fill(parent, children);
  if (at < 0) return;
  const stops = stopsIn(parent);
  const next = stops[at] ?? stops.at(-1);
  if (next instanceof HTMLElement) next.focus({ preventScroll: true });
  else instead?.();
}

function stopsIn(parent: HTMLElement): readonly (Element | null)[] {
  return [...parent.querySelectorAll("a[href], button:not(:disabled)")];
}
