/**
 * The place that a key leads to in a list of `count`, from the place `at` (-1: none has the focus), with `page` rows in view;
 * undefined for any other key, and where there is no such place.
 */
export function placeAfter(key: string, at: number, count: number, page: number): number | undefined {
  const to = wanted(key, at, count - 1, page);
  return to !== undefined && to >= 0 && to < count ? to : undefined;
}

function wanted(key: string, at: number, last: number, page: number): number | undefined {
  switch (key) {
    case "ArrowDown":
    case "j":
      return at + 1;
    case "ArrowUp":
    case "k":
      return at - 1;
    case "Home":
      return 0;
    case "End":
      return last;
    case "PageDown":
      return at < 0 ? undefined : Math.min(at + page, last);
    case "PageUp":
      return at < 0 ? undefined : Math.max(at - page, 0);
  }
  return undefined;
}
