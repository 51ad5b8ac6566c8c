import type { Page } from "playwright-core";
import { until } from "../../support/until.ts";
import type { BrowserSettings, Window } from "./harness.ts";
import { ADDRESSES } from "./home-folder.ts";

/** The page's places, each with what a look at all of them calls it. */
export const PLACES = Object.entries(ADDRESSES) as readonly (readonly [name: keyof typeof ADDRESSES, hash: string])[];

/** What people look at it with. */
export const SCREENS = {
  "light, wide": { colorScheme: "light", viewport: { width: 1280, height: 900 } },
  "dark, wide": { colorScheme: "dark", viewport: { width: 1280, height: 900 } },
  "light, small": { colorScheme: "light", viewport: { width: 390, height: 844 } },
  "dark, small": { colorScheme: "dark", viewport: { width: 390, height: 844 } },
} as const satisfies { readonly [name: string]: BrowserSettings };

/** Chromium itself says in the console that an answer was an error; the page can't help it. */
const SAID_BY_CHROMIUM = /^console Failed to load resource: the server responded with a status of (?:400|404|409)/;

/** Lets the window see answers that say what can't be shown, for the places `missing` and `unreadable`. */
export function allowRefusals(window: Window, name: keyof typeof ADDRESSES): void {
  if (name === "missing" || name === "unreadable") window.seen.allow(SAID_BY_CHROMIUM);
}

/** How long a page has to stand still to be taken for complete: ms. */
const STILL_MS = 300;

/** Comes back when the view is complete: nothing is on its way, and nothing has changed for a moment. */
export async function settled(page: Page): Promise<void> {
  // A session that goes on changes its times, so only elements that come and go count.
  await page.evaluate(`window.watched ??= (() => {
    const state = { changed: performance.now() };
    new MutationObserver(() => { state.changed = performance.now(); }).observe(document.body, { childList: true, subtree: true });
    return state;
  })()`);
  await until(
    async () =>
      (await page.evaluate(`document.querySelector("main") !== null
        && document.querySelector(".loading") === null
        && performance.now() - window.watched.changed > ${STILL_MS}`)) === true,
  );
}

/** Opens everything that is folded, also what shows only then; menus stay closed. At most `most` of them. */
export async function unfold(page: Page, most = 60): Promise<void> {
  for (let opened = 0; opened < most; opened++) {
    const more = await page.evaluate(`(() => {
      for (const details of document.querySelectorAll("details:not([open])")) details.open = true;
      const folded = document.querySelector('main [aria-expanded="false"]:not([aria-haspopup]):not([data-tried])');
      if (folded === null) return false;
      folded.dataset.tried = "";
      folded.click();
      return true;
    })()`);
    if (more !== true) break;
  }
  await settled(page);
}
