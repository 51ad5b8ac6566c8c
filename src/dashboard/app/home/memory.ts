/** Where one was in the list. */
export interface Spot {
  /** Rows that were read. */
  readonly count: number;
  /** The line at the top of the view, and how far below the top it stood; absent at the very top. */
  readonly top?: string | undefined;
  readonly offset?: number | undefined;
  /** The line that had the focus. */
  readonly focus?: string | undefined;
  /** Projects that were open. */
  readonly open: readonly string[];
}

/** Keeps where one was with this entry of the browser's history, so that Back leads there and a link does not. */
export function keepSpot(spot: Spot): void {
  history.replaceState({ ...held(), home: spot }, "");
}

/** Where one was when this entry of the history was left. */
export function spotKept(): Spot | undefined {
  const { home } = held();
  if (typeof home !== "object" || home === null || !("count" in home) || !("open" in home)) return undefined;
  return home as Spot;
}

function held(): { readonly home?: unknown } {
  const state: unknown = history.state;
  return typeof state === "object" && state !== null ? state : {};
}
