import { append, fill, h, icon } from "../dom.ts";
import type { Live } from "../live/live.ts";
import { closeOverlays } from "../parts/dialog.ts";
import { catchFocus } from "../parts/focus.ts";
import { failure } from "../parts/states.ts";
import { refreshTimes } from "../parts/time.ts";
import { hashOf, type Place, placeOf } from "../places.ts";
import type { App, View } from "../view.ts";
import { openHelp } from "./help.ts";
import { listenToKeys } from "./keys.ts";
import { linkBar } from "./link-bar.ts";
import { Navigation } from "./navigation.ts";
import { Notes } from "./notes.ts";
import { Notifier } from "./notifier.ts";
import { settingsMenu } from "./settings.ts";
import { TabTitle } from "./tab-title.ts";
import { followTheme } from "./theme.ts";
import { openView } from "./views.ts";

/** Times that say how long ago something was are brought up to date so often. ms */
const TIMES_MS = 30_000;

/** Takes the page over that stands in `body`, and shows the place that its address names. */
export function startShell(body: HTMLElement, live: Live): void {
  new Shell(body, live).show();
}

class Shell {
  readonly #frame: HTMLElement;
  readonly #notes = new Notes();
  readonly #title = new TabTitle();
  readonly #navigation: Navigation;
  readonly #notifier: Notifier;
  readonly #app: App;
  #shown: { readonly hash: string; readonly place: Place; readonly view: View } | undefined;

  constructor(body: HTMLElement, live: Live) {
    const header = find(body, "header");
    this.#frame = find(body, "#view");
    this.#navigation = new Navigation(find(header, "nav"));
    this.#app = {
      live,
      now: () => Date.now(),
      go: (place, options) => this.#go(place, options?.replace === true),
      title: (text) => this.#title.set(text),
      announce: (text) => this.#notes.announce(text),
      note: (text, kind) => this.#notes.show(text, kind),
    };
    this.#notifier = new Notifier({
      live,
      app: this.#app,
      place: () => this.#shown?.place,
      waiting: (count, unseen) => {
        this.#navigation.setWaiting(count);
        this.#title.mark(unseen);
      },
    });
    append(header, [this.#tools()]);
    header.after(linkBar(live));
    append(body, [this.#notes.element, this.#notes.polite]);
    this.#listen(body);
  }

  /** Shows the place that the address names. */
  show(): void {
    const { hash } = location;
    const place = placeOf(hash);
    const before = this.#shown;
    if (before?.hash === hash) return;
    closeOverlays();
    this.#navigation.setPlace(place);
    if (before !== undefined && told(() => before.view.move?.(place)) === true) {
      this.#shown = { hash, place, view: before.view };
    } else {
      told(() => before?.view.close());
      const view = this.#opened(place);
      this.#shown = { hash, place, view };
      fill(this.#frame, view.element);
      if (before !== undefined) this.#entered(view);
    }
    this.#notifier.looked();
  }

  #opened(place: Place): View {
    try {
      return openView(place, this.#app);
    } catch (error) {
      this.#app.title("");
      return { element: h("main", {}, failure("This can’t be shown", error)), close: () => undefined };
    }
  }

  /** Who does not see the page is told that it is another one, and goes on reading there. */
  #entered(view: View): void {
    view.focus?.();
    if (!this.#frame.contains(document.activeElement)) this.#focusContent();
    this.#notes.announce(this.#title.text);
  }

  #focusContent(): void {
    const start = this.#frame.querySelector<HTMLElement>("h1") ?? this.#frame.querySelector<HTMLElement>("main");
    if (start === null) return;
    if (!start.hasAttribute("tabindex")) start.tabIndex = -1;
    start.focus({ preventScroll: true });
  }

  #go(place: Place, replace: boolean): void {
    const hash = hashOf(place);
    if (replace) history.replaceState(null, "", hash);
    else if (hash !== location.hash) history.pushState(null, "", hash);
    this.show();
  }

  #tools(): HTMLElement {
    const settings = settingsMenu({ notices: this.#notices(), help: () => this.#help() });
    const start = h("a", { class: "button", href: "#/start" }, icon("M8 3v10M3 8h10"), h("span", {}, "New session"));
    return h("div", { class: "tools" }, start, settings);
  }

  #notices(): { readonly isOn: boolean; toggle(): void } {
    const notifier = this.#notifier;
    return {
      get isOn() {
        return notifier.isOn;
      },
      toggle: () => void notifier.toggle(),
    };
  }

  #help(): void {
    openHelp(this.#shown?.view.keys);
  }

  #listen(body: HTMLElement): void {
    addEventListener("popstate", () => this.show());
    addEventListener("hashchange", () => this.show());
    followTheme();
    catchFocus(this.#frame, () => this.#focusContent());
    find(body, ".skip").addEventListener("click", (event) => {
      event.preventDefault();
      this.#focusContent();
    });
    listenToKeys({
      go: (place) => this.#app.go(place),
      help: () => this.#help(),
      search: () => this.#frame.querySelector<HTMLElement>("[data-search]"),
      view: () => this.#shown?.view,
    });
    const refresh = (): void => {
      if (document.visibilityState === "visible") refreshTimes(body, Date.now());
    };
    setInterval(refresh, TIMES_MS);
    document.addEventListener("visibilitychange", refresh);
  }
}

/** What `act` gives. Where a view fails at it, that is told in the console, and another one is shown all the same. */
function told<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    reportError(error);
    return undefined;
  }
}

/** @throws Error when the page has no such element */
function find(parent: HTMLElement, selector: string): HTMLElement {
  const found = parent.querySelector<HTMLElement>(selector);
  if (found === null) throw new Error(`the page has no ${selector}`);
  return found;
}
