import assert from "node:assert/strict";
import type { BrowserContext, Page } from "playwright-core";

/** How much of an address or a message is kept. */
const MOST_SHOWN = 300;

/**
 * What pages did that the dashboard's must not do: console messages (a policy that was broken is one), errors, dialogs,
 * windows that were opened, and requests to others than the server; those never leave.
 */
export class Seen {
  readonly #all: string[] = [];
  readonly #expected: RegExp[] = [];
  readonly #allowed: RegExp[] = [];

  /** Watches all pages of `context`, also those opened later, whose server is at `origin`. */
  static async of(context: BrowserContext, origin: string): Promise<Seen> {
    const seen = new Seen();
    await context.route(
      ({ origin: asked, protocol }) => asked !== origin && protocol !== "blob:",
      (route) => {
        seen.#add(`asked for ${route.request().url()}`);
        return route.abort();
      },
    );
    context.on("console", (message) => seen.#add(`console ${message.text()} (${message.location().url})`));
    context.on("weberror", (error) => seen.#add(`error ${error.error().stack ?? error.error().message}`));
    context.on("dialog", (dialog) => {
      seen.#add(`dialog ${dialog.message()}`);
      // A page that is closed meanwhile takes its dialog with it.
      return dialog.dismiss().catch(() => undefined);
    });
    context.on("page", (page) => page.on("popup", (popup: Page) => seen.#add(`window ${popup.url()}`)));
    return seen;
  }

  /** What was seen and not expected, oldest first. */
  get all(): readonly string[] {
    const known = [...this.#expected, ...this.#allowed];
    return this.#all.filter((one) => !known.some((pattern) => pattern.test(one)));
  }

  /** Lets what matches be seen, before or after this call; it need not be. */
  allow(pattern: RegExp): void {
    this.#allowed.push(pattern);
  }

  /** Lets what matches be seen, before or after this call; it has to be. */
  expect(pattern: RegExp): void {
    this.#expected.push(pattern);
  }

  /** @throws AssertionError when anything was seen that was not expected, or something expected was not */
  check(): void {
    assert.deepEqual(this.all, [], "the page did what it must not do");
    const missed = this.#expected.filter((pattern) => !this.#all.some((one) => pattern.test(one)));
    assert.deepEqual(missed, [], "the page did not do what was expected of it");
  }

  #add(what: string): void {
    this.#all.push(what.slice(0, MOST_SHOWN));
  }
}
