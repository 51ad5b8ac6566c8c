import { readable, readableLine } from "../../../transcript/printable.ts";
import { markdown } from "../content/markdown.ts";
import { plain } from "../content/plain.ts";
import { tally, toolName } from "../content/summary.ts";
import { h, setText } from "../dom.ts";
import { dayOf, duration, exactly, time, timeOf } from "../parts/time.ts";
import { bdi } from "../parts/words.ts";
import type { App } from "../view.ts";
import type { Cursor, Item } from "../wire.ts";
import { Details } from "./details.ts";
import { atOf, type CallRow, type ChatRow, type GroupRow, hasFailed, type ItemRow } from "./rows.ts";
import type { ChatSource } from "./source.ts";
import { Threads } from "./threads.ts";

/** What rows are made with. */
export interface RowViewOptions {
  readonly app: App;
  readonly source: ChatSource;
  readonly hashOf?: (ref: Cursor) => string;
  readonly childHash?: (child: string) => string;
  readonly childSource?: (child: string) => ChatSource;
  toggleGroup(key: string): void;
  /** Something is about to unfold. */
  opened(): void;
  /** Something was folded again. */
  folded(): void;
}

/** Makes the elements of a chat's rows, and remembers what is unfolded in them. */
export class RowViews {
  readonly #options: RowViewOptions;
  readonly #details: Details;
  readonly #threads: Threads;
  #last: string | undefined;
  #marked: string | undefined;

  constructor(options: RowViewOptions) {
    this.#options = options;
    this.#details = new Details(options.app, options.source);
    this.#threads = new Threads(options);
  }

  close(): void {
    this.#threads.close();
  }

  /** Which row is the last of the chat, when its end is held: a call there may still be under way. */
  live(key: string | undefined): void {
    this.#last = key;
  }

  /** Which row a link or a jump led to. */
  mark(key: string): void {
    this.#marked = key;
  }

  /** What an element of `row` depends on. */
  versionOf(row: ChatRow): string {
    const live = row.kind === "group" && row.key === this.#last;
    return live ? `${row.version} live` : row.version;
  }

  make(row: ChatRow): HTMLElement {
    const element = this.#element(row);
    element.dataset.key = row.key;
    if (row.kind !== "day") element.tabIndex = -1;
    if (row.key === this.#marked) element.setAttribute("aria-current", "true");
    return element;
  }

  /** Brings `element` up to date where that costs less than making it anew, and where something in it is unfolded. */
  update(row: ChatRow, element: HTMLElement): boolean {
    if (row.kind === "call") return this.#updateCall(row, element);
    if (row.kind === "subagent") return true;
    return false;
  }

  #element(row: ChatRow): HTMLElement {
    switch (row.kind) {
      case "day":
        return h("div", { class: "row day" }, dayLine(row.at, this.#options.app.now()));
      case "message":
        return this.#message(row);
      case "marker":
        return this.#marker(row);
      case "subagent":
        return this.#threads.make(row, this.#at(row.held.item));
      case "group":
        return this.#group(row);
      case "call":
        return this.#call(row);
    }
  }

  #message({ held: { item } }: ItemRow): HTMLElement {
    const isUser = item.kind === "user";
    const text = item.text ?? "";
    return h(
      "article",
      { class: `row message ${item.kind}` },
      h(
        "div",
        { class: "who" },
        h("h2", { class: isUser ? undefined : "hidden" }, isUser ? "You" : "Agent"),
        this.#at(item),
      ),
      isUser ? plain(text) : markdown(text, this.#options.app),
      item.cut && this.#details.whole(item),
    );
  }

  #marker({ held: { item } }: ItemRow): HTMLElement {
    const { tool = "", summary, text, error } = item;
    const words = Object.hasOwn(MARKER_WORDS, tool) ? MARKER_WORDS[tool] : tool;
    return h(
      "article",
      { class: error ? "row marker bad" : "row marker" },
      h("div", { class: "who" }, h("h2", {}, words), summary !== undefined && bdi(summary, "quiet"), this.#at(item)),
      text !== undefined && text !== "" && h("pre", { class: "text", dir: "auto" }, readable(text)),
      item.cut && this.#details.whole(item),
    );
  }

  #group(row: GroupRow): HTMLElement {
    const failed = row.calls.filter(hasFailed).length;
    const [first, last] = [row.calls[0], row.calls.at(-1)];
    const took = first && last ? atOf(last) - atOf(first) : 0;
    const toggle = (): void => this.#options.toggleGroup(row.key);
    const button = h(
      "button",
      { class: "line bare fold", "aria-expanded": String(row.open), on: { click: toggle } },
      h("b", {}, `${row.calls.length} tool calls`),
      h(
        "span",
        { class: "brief clip" },
        tally(row.calls.flatMap(({ call, outputs }) => (call ?? outputs[0])?.item ?? [])),
      ),
      failed > 0 && h("span", { class: "failed" }, `${failed} failed`),
      took >= 1_000 && h("span", { class: "quiet" }, duration(took)),
    );
    const now = row.key === this.#last && !row.open && last !== undefined ? this.#now(last) : undefined;
    const at = first && this.#at((first.call ?? first.outputs[0])?.item);
    return h("article", { class: row.open ? "row group open" : "row group" }, button, at, now);
  }

  /** The last call of a group that still grows. */
  #now({ call, outputs }: CallRow): HTMLElement {
    const { tool = "", summary = "" } = (call ?? outputs[0])?.item ?? {};
    return h("p", { class: "now quiet clip" }, h("b", {}, toolName(tool)), " ", bdi(summary));
  }

  #call(row: CallRow): HTMLElement {
    const { call, outputs } = row;
    const { tool = "", summary } = (call ?? outputs[0])?.item ?? {};
    const detail = this.#details.of(row.key);
    const element = h("article", { class: callClass(row) });
    const button = h(
      "button",
      { class: "line bare fold", "aria-expanded": String(detail !== undefined) },
      h("b", {}, toolName(tool)),
      h("bdi", { class: "brief clip" }, briefOf(row, summary)),
      h("span", { class: "failed" }, failedWord(row)),
    );
    button.addEventListener("click", () => {
      if (this.#details.of(row.key) === undefined) this.#options.opened();
      const open = this.#details.toggle(row);
      button.setAttribute("aria-expanded", String(open !== undefined));
      element.classList.toggle("open", open !== undefined);
      element.querySelector(":scope > .detail")?.remove();
      if (open !== undefined) element.append(open);
      if (open === undefined) this.#options.folded();
    });
    element.append(button);
    const at = this.#at((call ?? outputs[0])?.item);
    if (at !== undefined) element.append(at);
    if (detail !== undefined) {
      element.classList.add("open");
      element.append(detail);
      this.#details.update(row);
    }
    return element;
  }

  #updateCall(row: CallRow, element: HTMLElement): boolean {
    const isOpen = element.classList.contains("open");
    element.className = `${callClass(row)}${isOpen ? " open" : ""}`;
    const failed = element.querySelector(":scope > .line > .failed");
    const brief = element.querySelector(":scope > .line > .brief");
    if (failed === null || brief === null) return false;
    setText(failed, failedWord(row));
    setText(brief, briefOf(row, (row.call ?? row.outputs[0])?.item.summary));
    this.#details.update(row);
    return true;
  }

  /** When an item was written: also the link to it. */
  #at(item: Item | undefined): HTMLElement | undefined {
    if (item === undefined) return undefined;
    const { hashOf, app } = this.#options;
    if (hashOf === undefined) return h("span", { class: "at" }, time(item.at, app.now(), "time"));
    const label = `${timeOf(item.at)}, link to this`;
    const shown = h("time", { datetime: new Date(item.at).toISOString(), title: exactly(item.at) }, timeOf(item.at));
    return h("a", { class: "at", href: hashOf(item.ref), "aria-label": label }, shown);
  }
}

const MARKER_WORDS: { readonly [marker: string]: string } = {
  interrupted: "Interrupted",
  error: "Error",
  compact: "Compacted",
  rewind: "Taken back",
  oversized: "Too large to show here",
  command: "Command output",
};

function callClass(row: CallRow): string {
  return `row call${row.grouped ? " grouped" : ""}${hasFailed(row) ? " bad" : ""}`;
}

function failedWord(row: CallRow): string {
  return hasFailed(row) ? "failed" : "";
}

/** What a call does; of an output without its call, its first line. */
function briefOf({ call, outputs }: CallRow, summary: string | undefined): string {
  if (call !== undefined) return readableLine(summary ?? "");
  const text = outputs[0]?.item.text ?? "";
  return `→ ${readableLine(text.slice(0, 300).trimStart().split("\n", 1)[0] ?? "")}`;
}

function dayLine(at: number, now: number): HTMLElement {
  return h("h2", {}, dayOf(at, now));
}
