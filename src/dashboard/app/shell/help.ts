import { h } from "../dom.ts";
import { openDialog } from "../parts/dialog.ts";
import { type KeyHelp, PAGE_KEYS } from "../parts/keys.ts";

/** Shows all keys: those of the page, and `here`, those of the view that is shown. */
export function openHelp(here: readonly KeyHelp[] = []): void {
  openDialog("Keys", [here.length > 0 && section("In this view", here), section("Everywhere", PAGE_KEYS)]);
}

function section(title: string, keys: readonly KeyHelp[]): HTMLElement {
  const rows = keys.map(({ keys, does }) => [
    h(
      "dt",
      {},
      keys.split(" ").map((key) => h("kbd", {}, key)),
    ),
    h("dd", {}, does),
  ]);
  return h("section", {}, h("h3", {}, title), h("dl", {}, rows));
}
