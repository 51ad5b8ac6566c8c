/**
 * Makes `change`; where that takes away, hides or disables what had the focus in `within`, `next` is to take it: who does
 * not see the page would else begin at its top again.
 */
export function keepingFocus(within: HTMLElement, change: () => void, next: () => void): void {
  const isHere = within.contains(document.activeElement);
  change();
  if (isHere && isLost(document.activeElement)) next();
}

/** Gives `element` the focus, also one that is not a control. */
export function focusOn(element: HTMLElement): void {
  if (element.tabIndex < 0) element.tabIndex = -1;
  element.focus({ preventScroll: true });
}

/**
 * For what nobody has thought of: when what had the focus is gone and nothing else took it, the nearest that stood around it
 * in `within` takes it; else `next` is told.
 */
export function catchFocus(within: HTMLElement, next: () => void): void {
  let around: readonly HTMLElement[] = [];
  document.addEventListener("focusin", ({ target }) => {
    around = [...parentsOf(target)].filter((each) => each !== within && within.contains(each));
  });
  document.addEventListener("focusout", ({ target, relatedTarget }) => {
    if (relatedTarget !== null) return;
    requestAnimationFrame(() => {
      if (document.activeElement !== document.body || !(target instanceof Element) || !isLost(target)) return;
      const nearest = around.find((each) => !isLost(each));
      if (nearest === undefined) next();
      else focusOn(nearest);
    });
  });
}

function* parentsOf(target: EventTarget | null): Iterable<HTMLElement> {
  if (!(target instanceof HTMLElement)) return;
  for (let each = target.parentElement; each !== null; each = each.parentElement) yield each;
}

/** Whether `element` has the focus in name only: a browser lets go of it a moment later. */
function isLost(element: Element | null): boolean {
  return element === null || element === document.body || element.matches(":disabled") || !element.checkVisibility();
}
