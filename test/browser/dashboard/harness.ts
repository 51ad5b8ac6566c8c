import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, type TestContext } from "node:test";
import { AxeBuilder } from "@axe-core/playwright";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { type Api, Machine, type Running } from "../../built/product.ts";
import { startChromium } from "./chromium.ts";
import { Seen } from "./seen.ts";

/** A person's browser, and how they have set it. */
export interface BrowserSettings
  extends Pick<
    BrowserContextOptions,
    "viewport" | "colorScheme" | "reducedMotion" | "locale" | "timezoneId" | "deviceScaleFactor" | "permissions"
  > {
  /** Comes in without having followed a link. */
  readonly signedOut?: boolean;
}

/** What a file of tests needs besides a home. */
export interface DashboardSettings {
  /** Fills the home before the server starts. */
  readonly home?: (machine: Machine) => void | Promise<void>;
  /** Environment variables of the server. */
  readonly variables?: NodeJS.ProcessEnv;
}

/**
 * The dashboard of a machine of its own, for the tests of this file: the built file serves it on a free port before the
 * first of them, and after the last everything is ended and removed.
 */
export function dashboardFor(settings: DashboardSettings = {}): Dashboard {
  const dashboard = new Dashboard(settings);
  before(() => dashboard.begin());
  after(() => dashboard.end());
  return dashboard;
}

/** A server of the built file, and a browser. */
export class Dashboard {
  /** The person's home. */
  readonly machine = new Machine(process.execPath);
  readonly #settings: DashboardSettings;
  #started:
    | { readonly server: Running; readonly api: Api; readonly link: string; readonly browser: Browser }
    | undefined;
  /** What a browser has that followed the link: it lets in once only. */
  #cookies: Awaited<ReturnType<BrowserContext["storageState"]>> | undefined;

  constructor(settings: DashboardSettings) {
    this.#settings = settings;
  }

  /** Starts the server and the browser. */
  async begin(): Promise<void> {
    await this.#settings.home?.(this.machine);
    const browser = await startChromium();
    try {
      this.#started = { ...(await this.#serve(0)), browser };
    } catch (error) {
      await browser.close();
      throw error;
    }
  }

  /** Ends and removes everything. */
  async end(): Promise<void> {
    await this.#started?.browser.close();
    await this.machine.remove();
  }

  /** The server's process. */
  get server(): Running {
    return this.#now.server;
  }

  /** What the server is asked by, outside of the browser. */
  get api(): Api {
    return this.#now.api;
  }

  /** The server's origin, as `http://127.0.0.1:PORT`. */
  get url(): string {
    return `http://127.0.0.1:${this.api.port}`;
  }

  get browser(): Browser {
    return this.#now.browser;
  }

  /** Ends the server, and comes back when it is gone. */
  async stopServer(): Promise<void> {
    this.server.child.kill("SIGTERM");
    await this.server.ended;
  }

  /** Serves again, on the same port and with the same key. */
  async startServer(): Promise<void> {
    this.#started = { ...(await this.#serve(this.api.port)), browser: this.browser };
  }

  /**
   * A new browser window of somebody who has followed the printed link. Its tabs share what tabs of a browser share. It is
   * closed when the test ends, which fails when a page did anything of what `Seen` watches for.
   */
  async window(t: TestContext, settings: BrowserSettings = {}): Promise<Window> {
    const window = await this.guest(settings);
    t.after(async () => {
      await window.context.close();
      window.seen.check();
    });
    return window;
  }

  /** The same outside of a test: it is for the caller to close it, and to look at what was seen. */
  async guest({ signedOut = false, ...options }: BrowserSettings = {}): Promise<Window> {
    const context = await this.browser.newContext({
      viewport: { width: 1280, height: 900 },
      locale: "en-US",
      timezoneId: "UTC",
      ...options,
      ...(!signedOut && this.#cookies && { storageState: this.#cookies }),
    });
    const seen = await Seen.of(context, this.url);
    if (!signedOut && this.#cookies === undefined) await this.#signIn(context);
    return new Window(context, seen, this.url);
  }

  /** A tab at `hash` in a window of its own. */
  async tab(t: TestContext, hash = "#/", options: BrowserSettings = {}): Promise<Page> {
    return (await this.window(t, options)).openTab(hash);
  }

  get #now() {
    if (this.#started === undefined) throw new Error("the dashboard is not there before the first test begins");
    return this.#started;
  }

  async #serve(port: number): Promise<{ readonly server: Running; readonly api: Api; readonly link: string }> {
    const server = this.machine.start(["serve", "--port", String(port)], this.#settings.variables);
    const [link = "", at] = await server.printed(/http:\/\/127\.0\.0\.1:(\d+)\/\?t=[\w-]+/);
    const key = readFileSync(join(this.machine.home, ".agent-bridge/dashboard-key"), "utf8").trim();
    return { server, api: { port: Number(at), key }, link };
  }

  async #signIn(context: BrowserContext): Promise<void> {
    const page = await context.newPage();
    await page.goto(this.#now.link);
    this.#cookies = await context.storageState();
    await page.close();
  }
}

/** A browser window of its own: what one person has open. */
export class Window {
  readonly context: BrowserContext;
  readonly seen: Seen;
  readonly #url: string;

  constructor(context: BrowserContext, seen: Seen, url: string) {
    this.context = context;
    this.seen = seen;
    this.#url = url;
  }

  /** Opens a tab at `hash`, as `#/runs`; comes back when a view stands there. */
  async openTab(hash = "#/"): Promise<Page> {
    const page = await this.context.newPage();
    await page.goto(`${this.#url}/${hash}`);
    await page.locator("main").first().waitFor();
    return page;
  }
}

/**
 * The accessibility faults of the page that keep people from using it, one line each; [] when there are none. With `rules`
 * only those are looked at, and with `within` only that part of the page.
 */
export async function axe(page: Page, rules: readonly string[] = [], within = "html"): Promise<readonly string[]> {
  // All in the page itself: it has no frames, and needs no second page that puts their results together.
  const builder = new AxeBuilder({ page }).include(within).setLegacyMode();
  const { violations } = await (rules.length === 0 ? builder : builder.withRules([...rules])).analyze();
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, help, nodes }) => nodes.map(({ target, html }) => `${id}: ${help}: ${target.join(" ")} ${html}`));
}

/** How many elements the page has. */
export function nodes(page: Page): Promise<number> {
  return page.evaluate('document.querySelectorAll("*").length') as Promise<number>;
}

/** Writes a picture of the page into the folder $SCREENSHOTS, for a person to look at; without one, nothing. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder === undefined) return;
  await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled" });
}
