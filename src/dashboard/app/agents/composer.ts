import { h } from "../dom.ts";
import { button } from "../parts/controls.ts";
import { keepingFocus } from "../parts/focus.ts";
import { keep, kept } from "../parts/kept.ts";

/** What became of a prompt that was sent: `busy` when a turn runs that could be interrupted. */
export type Fate = "taken" | "refused" | "busy";

/** A field for the next prompt. */
export interface Composer {
  readonly element: HTMLElement;
  /** Whether a prompt can be sent now, and whether it would have to interrupt a turn. */
  allow(can: boolean, interrupts: boolean): void;
  focus(): void;
}

const MOST_ROWS = 10;

/** The field of the session `id`; what is typed stays in this tab until it was taken. */
export function composer(id: string, send: (text: string, interrupt: boolean) => Promise<Fate>): Composer {
  const draft = `draft ${id}`;
  const keepDraft = (text: string): void => keep(draft, text || undefined, "sessionStorage");
  let can = false;
  let sending = false;

  const field = h("textarea", {
    id: `prompt-${id}`,
    rows: 1,
    dir: "auto",
    placeholder: "What should it do?",
    autocomplete: "off",
    "aria-keyshortcuts": "Enter",
    "aria-describedby": `prompt-keys-${id}`,
    on: {
      input: () => {
        keepDraft(field.value);
        offer(false);
        grow(field);
      },
      keydown: (event) => {
        // While an input method composes, Enter is its own; some browsers tell so by the code 229 alone.
        if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
        event.preventDefault();
        void submit(false);
      },
    },
  });
  const sends = h("button", { type: "submit", class: "button main" }, "Send");
  const interrupt = button("Send and interrupt", () => void submit(true), "danger", { hidden: true });
  const element = h(
    "form",
    {
      class: "composer",
      on: {
        submit: (event) => {
          event.preventDefault();
          void submit(false);
        },
      },
    },
    h("label", { class: "hidden", for: field.id }, "Prompt"),
    field,
    h("div", { class: "actions" }, interrupt, sends),
    h("p", { class: "quiet", id: `prompt-keys-${id}` }, "Enter sends, Shift+Enter begins a new line."),
  );

  let interrupting = false;
  const offer = (now: boolean): void => {
    interrupting = now;
    show();
  };
  const show = (): void =>
    keepingFocus(
      element,
      () => {
        interrupt.hidden = !interrupting;
        sends.hidden = interrupting;
        sends.disabled = !can || sending || field.value.trim() === "";
        interrupt.disabled = sending;
        field.readOnly = sending;
      },
      () => field.focus(),
    );
  const submit = async (interrupts: boolean): Promise<void> => {
    const text = field.value;
    if (sending || !can || text.trim() === "") return;
    sending = true;
    show();
    const fate = await send(text, interrupts);
    sending = false;
    if (fate === "taken") {
      field.value = "";
      keepDraft("");
      grow(field);
      field.focus();
    }
    offer(fate === "busy");
  };

  field.value = kept(draft, "sessionStorage") ?? "";
  show();
  requestAnimationFrame(() => grow(field));
  return {
    element,
    allow(now, interrupts) {
      can = now;
      offer(interrupting && interrupts);
    },
    focus: () => field.focus(),
  };
}

/** Makes the field as high as what stands in it, up to so many lines. */
function grow(field: HTMLTextAreaElement): void {
  field.rows = 1;
  const style = getComputedStyle(field);
  const around = Number.parseFloat(style.paddingTop) + Number.parseFloat(style.paddingBottom);
  const lines = (field.scrollHeight - around) / Number.parseFloat(style.lineHeight);
  field.rows = Math.min(Math.max(Math.round(lines) || 1, 1), MOST_ROWS);
}
