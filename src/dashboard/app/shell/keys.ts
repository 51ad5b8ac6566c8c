import { GoKeys } from "../parts/keys.ts";
import type { Place } from "../places.ts";
import type { View } from "../view.ts";

/** What the page's keys do. */
export interface KeyActions {
  go(place: Place): void;
  help(): void;
  /** The field in which one searches here. */
  search(): HTMLElement | null;
  view(): View | undefined;
}

/** Listens to the keys that are not written into a field: the page's own, then those of its view. */
export function listenToKeys(actions: KeyActions): void {
  const goKeys = new GoKeys();
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]") !== null) return;
    if (taken(event, actions, goKeys)) event.preventDefault();
  });
}

function taken(event: KeyboardEvent, actions: KeyActions, goKeys: GoKeys): boolean {
  if (event.key === "Escape") return actions.view()?.key?.(event) === true || leftField();
  if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return false;
  const to = goKeys.take(event.key, event.timeStamp);
  if (to !== undefined) {
    if (to !== "first") actions.go(to);
    // The view may have a use for the first key too.
    return to === "first" ? actions.view()?.key?.(event) === true : true;
  }
  if (event.key === "?") return done(actions.help);
  if (event.key === "/") return done(() => actions.search()?.focus());
  return actions.view()?.key?.(event) === true;
}

function done(action: () => void): boolean {
  action();
  return true;
}

/** Out of the field that one searches in, the page's keys work again. */
function leftField(): boolean {
  const field = document.activeElement;
  if (!(field instanceof HTMLElement) || !field.matches("[data-search]")) return false;
  field.blur();
  return true;
}

/** Whether the key is written into a field. */
function isTyping({ target }: Event): boolean {
  return (
    target instanceof Element && target.closest("input:not([type=checkbox], [type=radio]), textarea, select") !== null
  );
}
