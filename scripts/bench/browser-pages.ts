import { existsSync } from "node:fs";
import type { Browser, BrowserContext, CDPSession, Page } from "playwright-core";
import { startChromium } from "../../test/browser/dashboard/chromium.ts";
import { cookieIn, type Running } from "./child.ts";
import { NotMeasurable } from "./measure.ts";

const CHROMIUM = "/usr/bin/chromium";
const GIVE_UP_MS = 60_000;

/** What a page has told of its beginning, ms since the first byte of its document came. */
export interface Begun {
  /** When anything was first painted. */
  readonly paint: number;
  /** When the first session stood in it. */
  readonly row: number;
}

/** Notes in the page when the first element with `data-row` stands in it. */
const NOTE_FIRST_ROW = `new MutationObserver((_, observer) => {
  if (document.querySelector("[data-row]") === null) return;
  window.firstRow = performance.now();
  observer.disconnect();
}).observe(document, { childList: true, subtree: true })`;

const BEGUN = `(() => {
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  if (window.firstRow === undefined || paint === undefined) return null;
  const from = performance.getEntriesByType("navigation")[0].responseStart;
  return { paint: paint.startTime - from, row: window.firstRow - from };
})()`;

/** The least that a page can do to show a session. */
const BARE_PAGE = `<!doctype html><title>bare</title><ol></ol><script type="module">
const { transcripts } = await (await fetch("/api/transcripts?limit=50")).json();
const row = document.createElement("li");
row.dataset.row = "";
row.textContent = transcripts[0].title;
document.querySelector("ol").append(row);
</script>`;

/** Gaps between the frames of a page for so long, ms. */
const gapsFor = (ms: number): string => `new Promise((resolve) => {
  const gaps = [];
  let last = performance.now();
  const end = last + ${ms};
  requestAnimationFrame(function frame(now) {
    gaps.push(now - last);
    last = now;
    if (now < end) requestAnimationFrame(frame);
    else resolve(gaps.slice(1));
  });
})`;

/** A browser that has the key of a server. */
export class BrowserPages {
  readonly #browser: Browser;
  readonly #server: Running;
  readonly #key: string;

  private constructor(browser: Browser, server: Running, key: string) {
    this.#browser = browser;
    this.#server = server;
    this.#key = key;
  }

  /** One for the product that runs with its own files in `bridgeHome`. @throws NotMeasurable where there is no Chromium */
  static async of(server: Running, bridgeHome: string): Promise<BrowserPages> {
    if (!existsSync(CHROMIUM)) throw new NotMeasurable(`${CHROMIUM} is not installed`);
    return new BrowserPages(await startChromium(), server, cookieIn(bridgeHome).replace(/^ab_ui=/, ""));
  }

  /** How the dashboard begins, or the bare page in its stead, with nothing of it in the browser's cache. */
  begin(which: "ours" | "bare"): Promise<Begun> {
    return this.#with(async (context) => {
      const at = which === "ours" ? "/" : "/bare";
      // Both documents come by way of this process, so that it delays both; what follows does not.
      await context.route(
        ({ pathname }) => pathname === at,
        (route) => (which === "ours" ? route.continue() : route.fulfill({ contentType: "text/html", body: BARE_PAGE })),
      );
      const page = await context.newPage();
      await page.addInitScript(NOTE_FIRST_ROW);
      await page.goto(`${this.#url}${at}`);
      await page.locator("[data-row]").first().waitFor({ timeout: GIVE_UP_MS });
      return await told<Begun>(page, BEGUN);
    });
  }

  /** Gaps between frames, for `ms`: of an empty page, or with `hash` of the dashboard there, once rows of a chat stand in it. */
  gaps(ms: number, hash?: string): Promise<number[]> {
    return this.#with(async (context) => {
      const page = await context.newPage();
      if (hash !== undefined) await this.#openChat(page, hash);
      return (await page.evaluate(gapsFor(ms))) as number[];
    });
  }

  /** Opens a chat, and gives the page to `use`, with what measures it. */
  chat<T>(hash: string, use: (page: Page, held: () => Promise<Held>) => Promise<T>): Promise<T> {
    return this.#with(async (context) => {
      const page = await context.newPage();
      await this.#openChat(page, hash);
      const session = await context.newCDPSession(page);
      await session.send("Performance.enable");
      return use(page, () => heldBy(page, session));
    });
  }

  close(): Promise<void> {
    return this.#browser.close();
  }

  get #url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  async #openChat(page: Page, hash: string): Promise<void> {
    await page.goto(`${this.#url}/${hash}`);
    await page.locator(".chat-rows [data-key]").first().waitFor({ timeout: GIVE_UP_MS });
  }

  async #with<T>(use: (context: BrowserContext) => Promise<T>): Promise<T> {
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 900 } });
    try {
      await context.addCookies([{ name: "ab_ui", value: this.#key, domain: "127.0.0.1", path: "/" }]);
      return await use(context);
    } finally {
      await context.close();
    }
  }
}

/** What a page keeps in memory when all that can go has gone. */
export interface Held {
  /** JavaScript's heap, MB. */
  readonly heap: number;
  /** Elements in the document. */
  readonly elements: number;
  /** Nodes of the DOM that are alive, in the document or not. */
  readonly alive: number;
}

async function heldBy(page: Page, session: CDPSession): Promise<Held> {
  // What the first collection lets go of may hold more that only a second one finds.
  for (let i = 0; i < 2; i++) await session.send("HeapProfiler.collectGarbage");
  const { metrics } = await session.send("Performance.getMetrics");
  const metric = (name: string): number => metrics.find((one) => one.name === name)?.value ?? Number.NaN;
  const elements = (await page.evaluate('document.querySelectorAll("*").length')) as number;
  return { heap: metric("JSHeapUsedSize") / 1e6, elements, alive: metric("Nodes") };
}

async function told<T>(page: Page, expression: string): Promise<T> {
  for (const giveUp = performance.now() + GIVE_UP_MS; performance.now() < giveUp; ) {
    const value = await page.evaluate(expression);
    if (value !== null) return value as T;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new NotMeasurable("the page was not painted");
}
