import { readableLine } from "../../../transcript/printable.ts";
import { type Attributes, type Child, h, icon } from "../dom.ts";

/** A button that does something at once; `looks` are its classes beside `button`. */
export function button(
  label: Child,
  click: (event: MouseEvent) => void,
  looks = "small",
  attributes: Attributes = {},
): HTMLButtonElement {
  return h("button", { class: `button ${looks}`, ...attributes, on: { click } }, label);
}

/** A button with a cross, called `name`: takes away what it stands in. */
export function cross(name: string, click: () => void): HTMLButtonElement {
  return button(icon("M4 4l8 8M12 4l-8 8"), click, "plain small", { "aria-label": name });
}

/** A value that can be chosen in a field, the words for it, and what says more of it. */
export type Choice = readonly [value: string, words: string, title?: string];

/** A field in which one of `choices` is chosen. */
export function select(attributes: Attributes, choices: readonly Choice[]): HTMLSelectElement {
  return h("select", attributes, choices.map(choice));
}

/** One of the choices of a field. */
export function choice([value, words, title]: Choice): HTMLOptionElement {
  return h("option", { value, title: title && readableLine(title) }, readableLine(words));
}
