import type { Typed } from "./input-queue.ts";
import { pastedText, sequenceOf } from "./keys.ts";
import type { ScreenView } from "./screen-view.ts";

/** ms within which a second Escape leaves. */
const TWICE = 500;

/**
 * Lets keys that are pressed in the screen's box go to the program. Shift+Tab leaves it as it leaves any field, and so does
 * a second Escape, by `leave`.
 */
export function typeInto(view: ScreenView, can: () => boolean, type: (typed: Typed) => void, leave: () => void): void {
  const { box, screen } = view;
  let escaped = Number.NEGATIVE_INFINITY;
  box.addEventListener("keydown", (event) => {
    if (!can() || event.isComposing) return;
    // What is selected is copied.
    if (event.ctrlKey && event.key === "c" && document.getSelection()?.isCollapsed === false) return;
    const sequence = sequenceOf(event, screen.wantsArrows);
    if (sequence === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape") {
      const isSecond = event.timeStamp - escaped < TWICE;
      escaped = isSecond ? Number.NEGATIVE_INFINITY : event.timeStamp;
      if (isSecond) return leave();
    }
    view.toEnd();
    type({ text: sequence });
  });
  box.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!can() || text === "") return;
    event.preventDefault();
    type({ text: pastedText(text, screen.wantsPastes) });
  });
}
