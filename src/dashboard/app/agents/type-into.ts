import { h } from "../dom.ts";
import type { Typed } from "./input-queue.ts";
import { pastedText, sequenceOf } from "./keys.ts";
import type { ScreenView } from "./screen-view.ts";

/** ms within which a second Escape leaves. */
const TWICE = 500;
const MODIFIERS: readonly string[] = ["Control", "Shift", "Alt", "AltGraph", "Meta"];

/** What takes what is typed into a screen. */
export interface Typing {
  /** Whether it can be typed into: else its box has the focus, to be scrolled. */
  allow(can: boolean): void;
}

/**
 * Lets what is typed in the screen's box go to the program. Keys are sent as they are pressed; what comes otherwise (input
 * methods, dead keys, keyboards on glass, dictation) comes as text, which browsers give to fields alone: so a field that is
 * not seen stands at the cursor. Shift+Tab leaves it as it leaves any field, and so does a second Escape, by `leave`.
 */
export function typeInto(view: ScreenView, type: (typed: Typed) => void, leave: () => void): Typing {
  const { box, screen } = view;
  const field = h("textarea", {
    class: "typed",
    rows: 1,
    placeholder: " ",
    wrap: "off",
    "aria-label": "Type into the terminal. Shift and Tab, or Escape twice, leaves it.",
    autocomplete: "off",
    autocapitalize: "off",
    autocorrect: "off",
    spellcheck: "false",
  });
  const can = (): boolean => !field.hidden;
  let escaped = Number.NEGATIVE_INFINITY;
  let pointing = false;

  const send = (text: string): void => {
    if (text === "") return;
    view.toEnd();
    type({ text });
  };
  /** Sends what was written into the field. */
  const sendWritten = (): void => {
    const { value } = field;
    field.value = "";
    send(pastedText(value, false));
  };
  const focus = (): void => {
    if (can()) field.focus({ preventScroll: true });
  };
  const pressed = (event: KeyboardEvent): void => {
    // Some browsers tell by the code 229 alone that an input method has the key.
    if (!can() || event.isComposing || event.keyCode === 229 || MODIFIERS.includes(event.key)) return;
    // What is selected is copied.
    if (event.ctrlKey && event.key === "c" && document.getSelection()?.isCollapsed === false) return;
    // What was pointed at has the focus: the key's text goes to the field.
    if (event.target === box) focus();
    placeAtCursor(field, box);
    const scrolls = event.shiftKey && scrolled(box, event.key);
    const sequence = sequenceOf(event, screen.wantsArrows);
    if (scrolls || sequence !== undefined) event.preventDefault();
    if (sequence === undefined) return;
    event.stopPropagation();
    if (event.key === "Escape") {
      const isSecond = event.timeStamp - escaped < TWICE;
      escaped = isSecond ? Number.NEGATIVE_INFINITY : event.timeStamp;
      if (isSecond) {
        leave();
        return;
      }
    }
    send(sequence);
  };
  /** Keyboards that tell no keys tell these so. */
  const edited = (event: InputEvent): void => {
    const key = event.isComposing ? undefined : EDITS[event.inputType];
    if (key === undefined) return;
    event.preventDefault();
    send(key);
  };
  const pasted = (event: ClipboardEvent): void => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!can() || text === "") return;
    event.preventDefault();
    type({ text: pastedText(text, screen.wantsPastes) });
  };

  box.append(field);
  box.addEventListener("keydown", pressed);
  box.addEventListener("paste", pasted);
  field.addEventListener("beforeinput", edited);
  field.addEventListener("input", (event) => {
    if (!(event instanceof InputEvent && event.isComposing)) sendWritten();
  });
  field.addEventListener("compositionend", sendWritten);
  field.addEventListener("focus", () => placeAtCursor(field, box));
  // Text that is pointed at can be selected: the focus goes to the field when that is over, and nothing was.
  box.addEventListener("pointerdown", () => {
    pointing = true;
  });
  box.addEventListener("focus", () => {
    if (!pointing) focus();
  });
  box.addEventListener("click", () => {
    pointing = false;
    if (document.getSelection()?.isCollapsed !== false) focus();
  });
  box.addEventListener("blur", () => {
    pointing = false;
  });
  return {
    allow(now) {
      const had = field.matches(":focus");
      field.hidden = !now;
      // One stop of Tab, whatever it is.
      box.tabIndex = now ? -1 : 0;
      if (had && !now) box.focus();
    },
  };
}

const EDITS: { readonly [inputType: string]: string } = {
  deleteContentBackward: "\x7f",
  deleteContentForward: "\x1b[3~",
  insertLineBreak: "\r",
  insertParagraph: "\r",
};

/** Input methods show what they offer beside the field, so it stands where the text will. */
function placeAtCursor({ style }: HTMLElement, box: HTMLElement): void {
  const cursor = box.querySelector(".cursor")?.getBoundingClientRect();
  const { top, left } = box.getBoundingClientRect();
  style.top = `${box.scrollTop + (cursor === undefined ? 0 : cursor.top - top)}px`;
  style.left = `${box.scrollLeft + (cursor === undefined ? 0 : cursor.left - left)}px`;
}

/** Whether Shift and this key scroll the screen, which then was done. */
function scrolled(box: HTMLElement, key: string): boolean {
  const pages = key === "PageUp" ? -1 : key === "PageDown" ? 1 : 0;
  box.scrollTop += pages * box.clientHeight;
  return pages !== 0;
}
