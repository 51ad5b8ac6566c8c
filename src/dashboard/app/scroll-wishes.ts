/** What a person wants of a view that scrolls, whether it can go that way or not. */
export interface ScrollWishes {
  up(): void;
  down(): void;
}

/** Keys that scroll down. */
const DOWN_KEYS = new Set(["ArrowDown", "PageDown", " "]);

/**
 * Tells what is wanted of `box` by wheel and keys, at once: scrolling is told later, and not at all where there is nowhere
 * to go. What scrolls by itself inside of it, and zooming, is none of it. Ends with what it returns.
 */
export function onScrollWishes(box: HTMLElement, { up, down }: ScrollWishes): () => void {
  const ended = new AbortController();
  const { signal } = ended;
  const wheeled = ({ deltaY, ctrlKey, target }: WheelEvent): void => {
    if (ctrlKey || deltaY === 0 || isTakenInside(target, box, deltaY)) return;
    if (deltaY < 0) up();
    else down();
  };
  const keyed = ({ key, target }: KeyboardEvent): void => {
    if (DOWN_KEYS.has(key) && !isTakenInside(target, box, 1)) down();
  };
  box.addEventListener("wheel", wheeled, { passive: true, signal });
  box.addEventListener("keydown", keyed, { signal });
  return () => ended.abort();
}

/** Whether what lies inside of `box` and scrolls by itself takes a scrolling of `deltaY`. */
function isTakenInside(target: EventTarget | null, box: HTMLElement, deltaY: number): boolean {
  for (
    let inner = target instanceof Element ? target : null;
    inner !== null && inner !== box;
    inner = inner.parentElement
  ) {
    if (inner.scrollHeight <= inner.clientHeight || !/auto|scroll/.test(getComputedStyle(inner).overflowY)) continue;
    if (deltaY < 0 ? inner.scrollTop > 0 : inner.scrollTop + inner.clientHeight < inner.scrollHeight - 1) return true;
  }
  return false;
}
