import { h } from "../dom.ts";
import { button } from "../parts/controls.ts";
import type { Typed } from "./input-queue.ts";
import { sequenceOf } from "./keys.ts";

/** A line to type into a program, and the keys that a line has not. */
export interface InputBar {
  readonly element: HTMLElement;
  focus(): void;
}

/** The bar of a command or a terminal; `own`: the program wants its own sequences for the arrow keys. */
export function inputBar(kind: "command" | "terminal", own: () => boolean, type: (typed: Typed) => void): InputBar {
  const isTerminal = kind === "terminal";
  const field = h("input", {
    type: "text",
    "aria-label": "A line of input",
    placeholder: "A line of input",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
  });
  const key = (label: string, name: string, press: () => Typed): HTMLElement =>
    button(label, () => type(press()), "small", { "aria-label": name });
  const named = (label: string, name: string, pressed: string): HTMLElement =>
    key(label, name, () => ({ text: sequenceOf({ ...PLAIN, key: pressed }, own()) ?? "" }));
  const keys = isTerminal
    ? [
        key("Ctrl-C", "Ctrl-C: interrupt", () => ({ text: "\x03" })),
        key("Ctrl-D", "Ctrl-D: end of input", () => ({ end: true })),
        named("Enter", "Enter", "Enter"),
        named("Tab", "Tab", "Tab"),
        named("Esc", "Esc", "Escape"),
        named("↑", "Up", "ArrowUp"),
        named("↓", "Down", "ArrowDown"),
        named("←", "Left", "ArrowLeft"),
        named("→", "Right", "ArrowRight"),
      ]
    : [key("End of input", "End of input", () => ({ end: true }))];
  const submit = (event: Event): void => {
    event.preventDefault();
    type({ text: `${field.value}${isTerminal ? "\r" : "\n"}` });
    field.value = "";
  };
  const element = h(
    "form",
    { class: "input-bar", on: { submit } },
    field,
    h("button", { type: "submit", class: "button" }, "Send line"),
    h("div", { class: "actions", role: "group", "aria-label": "Keys" }, keys),
    isTerminal &&
      h(
        "p",
        { class: "quiet" },
        "You can also type into the terminal itself: click it. Shift+Tab, or Esc twice, leaves it.",
      ),
  );
  return { element, focus: () => field.focus() };
}

const PLAIN = { ctrlKey: false, altKey: false, metaKey: false, shiftKey: false };
