import { type Child, h } from "../dom.ts";
import { cross } from "./controls.ts";

/**
 * Opens a dialog over the page: Esc, its button and a click beside it close it, and the focus goes back to where it was.
 * `closed` is told once, however that came.
 */
export function openDialog(title: string, content: Child, closed?: () => void): HTMLDialogElement {
  const close = (): void => dialog.close();
  const dialog: HTMLDialogElement = h(
    "dialog",
    {
      class: "dialog",
      "aria-label": title,
      on: {
        click: ({ target }) => target === dialog && close(),
        close: () => {
          dialog.remove();
          closed?.();
        },
        keydown: (event) => event.stopPropagation(),
      },
    },
    h(
      "div",
      { class: "dialog-in" },
      h("div", { class: "dialog-top" }, h("h2", {}, title), cross("Close", close)),
      content,
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Closes every dialog and menu: they are about a place, which is left. */
export function closeOverlays(): void {
  for (const dialog of document.querySelectorAll<HTMLDialogElement>("dialog[open]")) dialog.close();
  for (const open of document.querySelectorAll<HTMLElement>(":popover-open")) open.hidePopover();
}
