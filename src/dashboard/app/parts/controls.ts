import { readableLine } from "../../../transcript/printable.ts";
import { type Attributes, type Child, h, icon } from "../dom.ts";

/** A button that does something at once, unless that is at work; `looks` are its classes beside `button`. */
export function button(
  label: Child,
  click: (event: MouseEvent) => void,
  looks = "small",
  attributes: Attributes = {},
): HTMLButtonElement {
  const pressed = (event: MouseEvent): void => {
    if (!isWorking(made)) click(event);
  };
  const made = h("button", { class: `button ${looks}`, ...attributes, on: { click: pressed } }, label);
  return made;
}

/** Says whether what a button does is at work. It keeps the focus, which one that is `disabled` would drop. */
export function setWorking(button: HTMLButtonElement, working: boolean): void {
  if (working) button.setAttribute("aria-disabled", "true");
  else button.removeAttribute("aria-disabled");
}

/** Whether what a button does is at work. */
export function isWorking(button: HTMLButtonElement): boolean {
  return button.ariaDisabled === "true";
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
