import { h } from "../dom.ts";
import { cross } from "../parts/controls.ts";

/** How long a note is shown that something was done. ms */
const SHOWN_MS = 5_000;
/** A screen reader tells what is added to a region that was there before. ms */
const ANNOUNCED_AFTER_MS = 50;

/** Short notes at the page's edge, and what is said to who does not see the page. */
export class Notes {
  readonly element = h("div", { class: "notes" });
  readonly polite = h("p", { class: "hidden", role: "status" });

  /** Says something politely, also what was said last. */
  announce(text: string): void {
    this.polite.textContent = "";
    setTimeout(() => {
      this.polite.textContent = text;
    }, ANNOUNCED_AFTER_MS);
  }

  /** Shows a note; those of a failure stay until they are dismissed. */
  show(text: string, kind: "done" | "failed" = "done"): void {
    const away = (): void => note.remove();
    const isFailure = kind === "failed";
    const note = h(
      "div",
      { class: `note ${kind}`, role: isFailure ? "alert" : undefined },
      h("p", { dir: "auto" }, text),
      cross("Dismiss", away),
    );
    this.element.append(note);
    if (isFailure) return;
    this.announce(text);
    setTimeout(away, SHOWN_MS);
  }
}
