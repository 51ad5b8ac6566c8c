import { Refused, Unreachable } from "../api.ts";
import { type Child, h } from "../dom.ts";
import { button } from "./controls.ts";

/** Says that something is on its way; it shows only after a moment, so that what comes at once does not flicker. */
export function loading(what = "Loading"): HTMLElement {
  return h("p", { class: "state loading", role: "status" }, `${what} …`);
}

/** Says that there is nothing, and what to do about it. */
export function empty(title: string, ...more: readonly Child[]): HTMLElement {
  return h("div", { class: "state" }, h("p", { class: "state-title" }, title), more);
}

/** Says what can't be shown and why, in the server's own words; `again` tries once more. */
export function failure(title: string, error: unknown, again?: () => void): HTMLElement {
  return h(
    "div",
    { class: "state bad", role: "alert" },
    h("p", { class: "state-title" }, title),
    h("p", {}, reasonOf(error)),
    again !== undefined && button("Try again", again, ""),
  );
}

/** Why something failed, as a sentence for people. */
export function reasonOf(error: unknown): string {
  if (error instanceof Unreachable) return "The server does not answer. This goes on by itself when it is back.";
  if (error instanceof Refused) return sentence(error.message);
  return `Something went wrong in the page: ${String(error)}`;
}

function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
