import { h, icon, setText } from "../dom.ts";
import { button } from "../parts/controls.ts";
import type { Direction } from "./find-record.ts";

/** What the bar of a chat can do. */
export interface PaneActions {
  first(): void;
  last(): void;
  find(what: "prompt" | "error", direction: Direction): void;
  /** Ends a search that is under way. */
  stop(): void;
}

/** How a chat stands in its view. */
export interface PaneStanding {
  /** The end is in view and stays there. */
  readonly following: boolean;
  /** Something came below what is in view. */
  readonly missed: boolean;
  readonly isEmpty: boolean;
  /** The day of what is at the top of the view. */
  readonly day: string;
}

const ICONS = {
  first: "M3 3h10M8 13V6M5 9l3-3 3 3",
  last: "M3 13h10M8 3v7M5 7l3 3 3-3",
  up: "M4 10l4-4 4 4",
  down: "M4 6l4 4 4-4",
};

/** The buttons at the foot of a chat: to its ends, to prompts and errors, and back to following. */
export class PaneBar {
  readonly element: HTMLElement;
  readonly #latest: HTMLButtonElement;
  readonly #finding: HTMLElement;
  readonly #day = h("span", { class: "of-day quiet" });
  readonly #findingText = h("span", { role: "status" });

  constructor(actions: PaneActions) {
    this.#latest = button("", actions.last, "small latest", { hidden: true });
    const stop = button("Stop", actions.stop);
    this.#finding = h("span", { class: "finding quiet", hidden: true }, this.#findingText, stop);
    this.element = h(
      "div",
      { class: "chat-bar", role: "toolbar", hidden: true, "aria-label": "Move through the chat" },
      this.#day,
      step("First", "First (Home)", ICONS.first, actions.first),
      pair("Prompt", "prompt", "[", "]", actions),
      pair("Error", "error", "E", "e", actions),
      step("Last", "Last (End)", ICONS.last, actions.last),
      this.#finding,
      this.#latest,
    );
  }

  update({ following, missed, isEmpty, day }: PaneStanding): void {
    this.element.hidden = isEmpty;
    this.#latest.hidden = following;
    setText(this.#day, day);
    setText(this.#latest, missed ? "New ↓" : "Latest ↓");
  }

  /** Says that a search is under way, or (undefined) no more. */
  finding(text: string | undefined): void {
    this.#finding.hidden = text === undefined;
    setText(this.#findingText, text ?? "");
  }
}

function pair(name: string, what: "prompt" | "error", up: string, down: string, actions: PaneActions): HTMLElement {
  return h(
    "span",
    { class: "pair quiet", role: "group", "aria-label": `${name}s` },
    step("", `Previous ${what} (${up})`, ICONS.up, () => actions.find(what, "up")),
    h("span", { "aria-hidden": "true" }, name),
    step("", `Next ${what} (${down})`, ICONS.down, () => actions.find(what, "down")),
  );
}

function step(text: string, title: string, path: string, click: () => void): HTMLElement {
  const label = [icon(path), text !== "" && h("span", {}, text)];
  return button(label, click, "small plain", { title, "aria-label": title });
}
