import type { Live } from "../live/live.ts";
import { keep, kept } from "../parts/kept.ts";
import { FewNotices, type Notice, type Watched, waitingIn } from "../parts/notices.ts";
import { hashOf, type Place } from "../places.ts";
import type { App } from "../view.ts";
import { Watch } from "./watch.ts";

const NAME = "notices";
/** Held by the tab that somebody looks at. */
const LOOKED_AT = "agent-bridge looked at";

/** What the notifier needs of the page around it. */
export interface NotifierOptions {
  readonly live: Live;
  readonly app: Pick<App, "go" | "note">;
  /** Where one is. */
  place(): Place | undefined;
  /** How many wait for an answer, and how many of them nobody has looked at here. */
  waiting(count: number, unseen: number): void;
}

/** Tells of sessions that wait, fail or end: in the page always, and outside of it to who has asked for that. */
export class Notifier {
  readonly #options: NotifierOptions;
  readonly #watch: Watch;
  readonly #few = new FewNotices();
  /** The questions that somebody has looked at. */
  #lookedAt: ReadonlySet<string> = new Set();
  #letGo = (): void => undefined;

  constructor(options: NotifierOptions) {
    this.#options = options;
    this.#watch = new Watch(
      options.live,
      () => this.isOn,
      (news) => {
        this.looked();
        if (this.isOn) void this.#tell(news);
      },
    );
    addEventListener("focus", () => this.#focused(true));
    addEventListener("blur", () => this.#focused(false));
    this.#focused(document.hasFocus());
  }

  /** Whether notices are shown outside of the page. */
  get isOn(): boolean {
    return typeof Notification !== "undefined" && Notification.permission === "granted" && kept(NAME) === "on";
  }

  /** Turns them on or off; asks the browser for leave where it must. */
  async toggle(): Promise<void> {
    const { note } = this.#options.app;
    if (this.isOn) {
      keep(NAME, undefined);
      note("Notices are off.");
    } else if (typeof Notification === "undefined") {
      note("This browser has no notices.", "failed");
    } else if ((await Notification.requestPermission()) === "granted") {
      keep(NAME, "on");
      note("Notices are on: when a session waits for an answer, fails or ends.");
      this.#watch.look();
    } else {
      note("The browser does not let this page show notices: its settings for this site can allow them.", "failed");
    }
  }

  /** Somebody may be looking at what waits: the place, or what is seen, is another one. */
  looked(): void {
    const waiting = waitingIn(this.#watch.seen);
    const place = this.#options.place();
    const here = document.hasFocus() && place !== undefined ? hashOf(place) : undefined;
    const isHere = (one: Watched): boolean => one.place !== undefined && hashOf(one.place) === here;
    const lookedAt = waiting.filter((one) => isHere(one) || this.#lookedAt.has(questionOf(one)));
    this.#lookedAt = new Set(lookedAt.map(questionOf));
    this.#options.waiting(waiting.length, waiting.length - lookedAt.length);
  }

  /** Notices are for who looks at no tab of this page. */
  async #tell(news: readonly Notice[]): Promise<void> {
    if (news.length === 0 || (await isLookedAt())) return;
    for (const notice of this.#few.pass(news, Date.now())) this.#show(notice);
  }

  #show({ tag, title, text, place }: Notice): void {
    try {
      const shown = new Notification(title, { tag, body: text, icon: "/assets/icon.svg" });
      shown.addEventListener("click", () => {
        window.focus();
        if (place !== undefined) this.#options.app.go(place);
        shown.close();
      });
    } catch {
      // Some browsers of phones have them for installed pages only; the title tells all the same.
    }
  }

  #focused(isFocused: boolean): void {
    this.#letGo();
    this.#letGo = isFocused ? holdLock(LOOKED_AT) : () => undefined;
    if (isFocused) this.looked();
  }
}

function questionOf({ key, about }: Watched): string {
  return `${key} ${about}`;
}

/** Holds a lock, beside others that do, until what it gives is called. */
function holdLock(name: string): () => void {
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  void navigator.locks?.request(name, { mode: "shared" }, () => held);
  return letGo;
}

async function isLookedAt(): Promise<boolean> {
  if (document.hasFocus()) return true;
  const { held = [] } = (await navigator.locks?.query()) ?? {};
  return held.some(({ name }) => name === LOOKED_AT);
}
