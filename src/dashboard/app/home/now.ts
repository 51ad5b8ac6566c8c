import { fill, h, setText } from "../dom.ts";
import { agentName } from "../parts/agent.ts";
import { button } from "../parts/controls.ts";
import { counted } from "../parts/measures.ts";
import { liveSessions } from "../parts/own-sessions.ts";
import { refetching } from "../parts/refetch.ts";
import { readState } from "../parts/sound-run.ts";
import { failure, loading } from "../parts/states.ts";
import type { App } from "../view.ts";
import type { State } from "../wire.ts";
import { LastWordsReader } from "./last-words.ts";
import { fits, nowElement, paintNowRow } from "./now-row.ts";
import { type NowRow, nowRows } from "./now-rows.ts";

/** Rows that are shown before one asks for all. */
const FEW = 8;

/** What the section tells. */
export interface NowOptions {
  readonly app: App;
  /** The state of the server was read. */
  told(state: State): void;
  /** Does a change of its height without moving what is read below. */
  keeping(change: () => void): void;
}

/** What goes on now. */
export class Now {
  readonly element: HTMLElement;
  readonly #options: NowOptions;
  readonly #list = h("ul", { class: "now-list", role: "list" });
  readonly #quiet = h("div", { class: "now-quiet" }, loading());
  readonly #all = button("", () => this.#toggleAll(), "plain small", { hidden: true });
  readonly #stores = h("div", { class: "stores quiet" });
  readonly #elements = new Map<string, HTMLElement>();
  readonly #words = new LastWordsReader(() => this.#paint());
  readonly #refetch = refetching(() => this.#read());
  readonly #offs: readonly (() => void)[];
  #rows: readonly NowRow[] | undefined;
  #showsAll = false;

  constructor(options: NowOptions) {
    this.#options = options;
    const { live } = options.app;
    this.element = h(
      "section",
      { class: "now", "aria-labelledby": "now" },
      h("h2", { id: "now" }, "Now"),
      this.#list,
      this.#quiet,
      this.#all,
      this.#stores,
    );
    const want = (): void => this.#refetch.ask();
    this.#offs = [
      live.on("peers", want),
      live.on("runs", want),
      live.on("sessions", want),
      live.on("transcripts", ({ ids }) => this.#words.changed(ids)),
    ];
    want();
  }

  /** What the keyboard goes through, from the top. */
  get stops(): readonly HTMLElement[] {
    return [...this.#list.querySelectorAll<HTMLElement>("[data-main]")];
  }

  /** Reads again what goes on. */
  refresh(): void {
    this.#refetch.ask();
  }

  close(): void {
    for (const off of this.#offs) off();
    this.#words.close();
    this.#refetch.close();
  }

  #toggleAll(): void {
    this.#showsAll = !this.#showsAll;
    this.#paint();
  }

  async #read(): Promise<void> {
    try {
      const state = await readState();
      const own = await liveSessions();
      this.#rows = nowRows(state, own);
      this.#options.told(state);
      this.#options.keeping(() => this.#paintStores(state));
      this.#paint();
    } catch (error) {
      this.#options.keeping(() =>
        fill(
          this.#quiet,
          failure("What goes on now could not be read.", error, () => this.refresh()),
        ),
      );
    }
  }

  #paint(): void {
    const rows = this.#rows;
    if (rows === undefined) return;
    const shown = this.#showsAll ? rows : rows.slice(0, FEW);
    const focused = document.activeElement;
    this.#options.keeping(() => {
      this.#place(shown);
      fill(this.#quiet, rows.length === 0 && h("p", { class: "quiet" }, "Nothing is running."));
      this.#all.hidden = rows.length <= FEW;
      setText(this.#all, this.#showsAll ? "Show fewer" : `${rows.length - FEW} more`);
      this.#all.setAttribute("aria-expanded", String(this.#showsAll));
    });
    // An element that has moved has lost the focus.
    if (focused instanceof HTMLElement && focused.isConnected) focused.focus({ preventScroll: true });
    this.#words.show(shown.slice(0, FEW));
  }

  #place(rows: readonly NowRow[]): void {
    const elements = rows.map((row) => {
      const known = this.#elements.get(row.key);
      const element = known !== undefined && fits(known, row) ? known : nowElement(row);
      paintNowRow(element, row, this.#words.of(row), this.#options.app.now());
      this.#elements.set(row.key, element);
      return element;
    });
    const isSame =
      elements.length === this.#list.children.length && elements.every((one, at) => one === this.#list.children[at]);
    if (!isSame) fill(this.#list, elements);
    const keys = new Set(rows.map(({ key }) => key));
    for (const key of this.#elements.keys()) if (!keys.has(key)) this.#elements.delete(key);
  }

  #paintStores({ stores }: State): void {
    const skipped = stores.reduce((sum, store) => sum + store.skipped, 0);
    fill(
      this.#stores,
      stores.flatMap(({ agent, problem }) =>
        problem === undefined
          ? []
          : h("p", { class: "fault" }, `${agentName(agent)}: ${problem}; what was listed before is still shown.`),
      ),
      skipped > 0 &&
        h(
          "p",
          {},
          `${counted(skipped, "thing")} in the stores could not be shown; `,
          h("code", {}, "agent-bridge doctor"),
          " says why.",
        ),
    );
  }
}
