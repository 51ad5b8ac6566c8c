import { h } from "../dom.ts";
import type { App } from "../view.ts";

/** Copies `text` and says so; where the browser does not let it, says that. */
export async function copy(app: Pick<App, "note">, text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    app.note(`${what} copied`);
  } catch {
    app.note(`The browser did not let this page copy ${what.toLowerCase()}.`, "failed");
  }
}

/** A button that copies what `text` gives at that moment. */
export function copyButton(app: Pick<App, "note">, label: string, what: string, text: () => string): HTMLButtonElement {
  return h(
    "button",
    { type: "button", class: "button small plain", on: { click: () => void copy(app, text(), what) } },
    label,
  );
}
