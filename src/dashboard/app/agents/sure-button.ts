import { h, setText } from "../dom.ts";
import { button, setWorking } from "../parts/controls.ts";
import { keepingFocus } from "../parts/focus.ts";

/** A button that asks once more before it does something. */
export interface SureButton {
  readonly element: HTMLElement;
  /** Whether it asks; else it does it at once. */
  asks(asks: boolean): void;
  hide(hidden: boolean): void;
}

/** `question` is asked once more; while `act` is at work, the button says `working`. */
export function sureButton(
  words: { readonly label: string; readonly question: string; readonly yes: string; readonly working: string },
  act: () => Promise<void>,
): SureButton {
  let asking = true;
  const back = (): void => {
    open.hidden = false;
    ask.hidden = true;
  };
  const run = async (): Promise<void> => {
    keepingFocus(element, back, () => open.focus());
    setWorking(open, true);
    setText(open, words.working);
    await act();
    setWorking(open, false);
    setText(open, words.label);
  };
  const cancel = (): void => {
    back();
    open.focus();
  };
  const press = (): void => {
    if (!asking) return void run();
    open.hidden = true;
    ask.hidden = false;
    no.focus();
  };
  const open = button(words.label, press);
  const yes = button(words.yes, () => void run(), "small danger");
  const no = button("No", cancel);
  const ask = h(
    "span",
    {
      class: "actions",
      role: "group",
      "aria-label": words.question,
      hidden: true,
      on: {
        keydown: (event) => {
          if (event.key !== "Escape") return;
          event.stopPropagation();
          cancel();
        },
      },
    },
    h("span", {}, words.question),
    yes,
    no,
  );
  const element = h("span", {}, open, ask);
  return {
    element,
    asks: (asks) => {
      asking = asks;
    },
    hide(hidden) {
      if (hidden) back();
      open.hidden = hidden || !ask.hidden;
    },
  };
}
