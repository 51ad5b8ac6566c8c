import { type Child, fill, h, icon } from "../dom.ts";

/** A dialog that is open. */
export interface Dialog {
  readonly element: HTMLDialogElement;
  /** Makes `children` what stands below its title. */
  fill(...children: readonly Child[]): void;
  close(): void;
}

/**
 * Opens a dialog over the page: Esc, its button and a click beside it close it, and the focus goes back to where it was.
 * `closed` is told once, however that came.
 */
export function openDialog(title: string, content: Child, closed?: () => void): Dialog {
  const body = h("div", { class: "dialog-body" }, content);
  const close = (): void => element.close();
  const cross = h(
    "button",
    { type: "button", class: "button plain small", "aria-label": "Close", on: { click: close } },
    icon("M4 4l8 8M12 4l-8 8"),
  );
  const element: HTMLDialogElement = h(
    "dialog",
    {
      class: "dialog",
      "aria-label": title,
      on: {
        click: ({ target }) => target === element && close(),
        close: () => {
          element.remove();
          closed?.();
        },
        keydown: (event) => event.stopPropagation(),
      },
    },
    h("div", { class: "dialog-in" }, h("div", { class: "dialog-top" }, h("h2", {}, title), cross), body),
  );
  document.body.append(element);
  element.showModal();
  return { element, fill: (...children) => fill(body, ...children), close };
}
