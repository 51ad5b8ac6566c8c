import { oneLine } from "../../../transcript/one-line.ts";
import { h } from "../dom.ts";

/** What a field for a search says and tells. */
export interface SearchOptions {
  readonly label: string;
  /** Another text is searched for, undefined for none; `typing` while more is likely to come. */
  changed(q: string | undefined, typing: boolean): void;
  /** From the field down into what it searches. */
  down(): void;
}

/** A field for a search. */
export interface SearchField {
  readonly element: HTMLInputElement;
  /** Shows what is searched for. */
  show(q: string | undefined): void;
  close(): void;
}

/** How long nothing must be typed before it is searched for: ms. */
const TYPING_MS = 150;

/** A field that searches as one types: Enter does so at once, Escape empties it, and down leads to what was found. */
export function searchField({ label, changed, down }: SearchOptions): SearchField {
  let shown = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ask = (typing: boolean): void => {
    clearTimeout(timer);
    timer = undefined;
    const q = oneLine(element.value);
    if (q === shown) return;
    shown = q;
    changed(q || undefined, typing);
  };
  const input = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => ask(true), TYPING_MS);
  };
  const keydown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === "Enter") ask(false);
    else if (event.key === "ArrowDown") down();
    else if (event.key === "Escape" && element.value !== "") {
      element.value = "";
      ask(false);
    } else return;
    event.preventDefault();
  };
  const element = h("input", {
    type: "search",
    class: "search",
    placeholder: label,
    "aria-label": label,
    maxlength: 1000,
    autocomplete: "off",
    spellcheck: "false",
    dir: "auto",
    "data-search": true,
    on: { input, keydown },
  });
  return {
    element,
    show(q = "") {
      shown = q;
      // What is being typed is newer than what is shown, and of spaces only one between words is searched for.
      if (timer === undefined && oneLine(element.value) !== q) element.value = q;
    },
    close: () => clearTimeout(timer),
  };
}
