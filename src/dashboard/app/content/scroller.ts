/** Lets the keyboard reach `element` while it has more than it shows: then it is a stop of its own, called `label`. */
export function scroller<T extends HTMLElement>(element: T, label: string): T {
  new ResizeObserver(() => {
    const scrolls = element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight;
    if (scrolls === (element.tabIndex === 0)) return;
    for (const [name, value] of [
      ["tabindex", "0"],
      ["role", "group"],
      ["aria-label", label],
    ] as const) {
      if (scrolls) element.setAttribute(name, value);
      else element.removeAttribute(name);
    }
  }).observe(element);
  return element;
}
