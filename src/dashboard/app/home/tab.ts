import { type Page, Refresher } from "./refresher.ts";

/** This tab. */
const TAB: Page = {
  isHidden: () => document.hidden,
  onVisibility(told) {
    document.addEventListener("visibilitychange", told);
    return () => document.removeEventListener("visibilitychange", told);
  },
};

/** A refresher that rests while this tab is hidden. */
export function tabRefresher(work: () => Promise<void>, gap: number): Refresher {
  return new Refresher(work, gap, TAB);
}
