/** What this browser kept under `name`; undefined when that is nothing, or it keeps nothing for this page. */
export function kept(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Has this browser keep `value` under `name`, where it keeps anything; undefined is nothing. */
export function keep(name: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // It lasts as long as the page, then.
  }
}
