import { h, setText } from "../dom.ts";
import { hashOf, type Place } from "../places.ts";

/** Which views stand under each link, by its address. */
const WITHIN: readonly (readonly [hash: string, views: readonly Place["view"][]])[] = [
  [hashOf({ view: "home" }), ["home", "session"]],
  [hashOf({ view: "runs" }), ["runs", "run"]],
  [hashOf({ view: "agents" }), ["agents", "agent", "start"]],
];

/** A larger count than this is just large. */
const MOST = 99;

/** The links in the header. */
export class Navigation {
  readonly #nav: HTMLElement;
  readonly #count = h("span", { "aria-hidden": "true" });
  readonly #words = h("span", { class: "hidden" });
  readonly #badge = h("span", { class: "badge", hidden: true }, this.#count, this.#words);

  constructor(nav: HTMLElement) {
    this.#nav = nav;
    this.#link(hashOf({ view: "agents" }))?.append(this.#badge);
  }

  /** Marks the link to where one is. */
  setPlace({ view }: Place): void {
    for (const [hash, views] of WITHIN) {
      const link = this.#link(hash);
      if (views.includes(view)) link?.setAttribute("aria-current", "page");
      else link?.removeAttribute("aria-current");
    }
  }

  /** Shows how many sessions wait for an answer. */
  setWaiting(count: number): void {
    this.#badge.hidden = count === 0;
    setText(this.#count, count > MOST ? `${MOST}+` : String(count));
    setText(this.#words, count === 1 ? " 1 waits for an answer" : ` ${count} wait for an answer`);
  }

  #link(hash: string): HTMLElement | null {
    return this.#nav.querySelector<HTMLElement>(`a[href="${hash}"]`);
  }
}
