import type { SessionList } from "./list.ts";
import type { Now } from "./now.ts";

/** Takes the keys that move through what goes on now and the list below it; true when a key did something. */
export function homeKeys(list: SessionList, now: Now): (event: KeyboardEvent) => boolean {
  const down = (): boolean => {
    const { stops } = now;
    const at = stops.indexOf(active());
    if (list.focused !== -1) return list.step(1);
    if (at === -1) return list.isReadingOn() ? list.focusInView() : focusOn(stops[0]) || list.focusAt(0);
    return focusOn(stops[at + 1]) || list.focusAt(0);
  };
  const up = (): boolean => {
    const { stops } = now;
    if (list.focused > 0) return list.step(-1);
    if (list.focused === 0) return focusOn(stops.at(-1));
    return focusOn(stops[stops.indexOf(active()) - 1]);
  };
  const first = (): boolean => {
    list.toStart();
    return focusOn(now.stops[0]) || list.focusAt(0);
  };
  const page = (by: -1 | 1): boolean => {
    if (list.focused === -1) return false;
    return list.focusAt(Math.max(list.focused + by * list.pageLength(), 0));
  };
  const keys: { readonly [key: string]: () => boolean } = {
    ArrowDown: down,
    j: down,
    ArrowUp: up,
    k: up,
    Home: first,
    End: () => list.focusAt(Number.MAX_SAFE_INTEGER),
    PageDown: () => page(1),
    PageUp: () => page(-1),
    ArrowRight: () => list.fold(true),
    ArrowLeft: () => list.fold(false),
  };
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.defaultPrevented) return false;
    if (event.target instanceof Element && event.target.closest("input, textarea, select") !== null) return false;
    return keys[event.key]?.() ?? false;
  };
}

function active(): HTMLElement {
  return document.activeElement instanceof HTMLElement ? document.activeElement : document.body;
}

function focusOn(element: HTMLElement | undefined): boolean {
  element?.focus();
  return element !== undefined;
}
