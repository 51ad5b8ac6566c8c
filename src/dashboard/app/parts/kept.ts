/** Where a browser keeps something for this page: for all of its tabs, or for this one alone. */
type Area = "localStorage" | "sessionStorage";

/** What this browser kept under `name`; undefined when that is nothing, or it keeps nothing for this page. */
export function kept(name: string, area: Area = "localStorage"): string | undefined {
  try {
    return window[area].getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Has this browser keep `value` under `name`, where it keeps anything; undefined is nothing. */
export function keep(name: string, value: string | undefined, area: Area = "localStorage"): void {
  try {
    if (value === undefined) window[area].removeItem(name);
    else window[area].setItem(name, value);
  } catch {
    // Full, or switched off: it lasts as long as the page, then.
  }
}
