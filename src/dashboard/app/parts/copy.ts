import type { App } from "../view.ts";
import { button } from "./controls.ts";

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
  return button(label, () => void copy(app, text(), what), "small plain");
}
