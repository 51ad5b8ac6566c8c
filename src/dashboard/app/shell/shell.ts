import { append, fill, h, setText } from "../dom.ts";
import type { Live } from "../live/live.ts";
import { refreshTimes } from "../parts/time.ts";
import { hashOf, type Place, placeOf } from "../places.ts";
import type { App, View } from "../view.ts";
import { openView } from "./views.ts";

/** Puts the page into `body`, and shows the place that its address names. */
export function startShell(body: HTMLElement, live: Live): void {
  const view = h("div", { id: "view" });
  const polite = h("p", { class: "hidden", role: "status" });
  const notes = h("div", { class: "notes" });
  const nav = h("nav", { "aria-label": "Views" });
  const header = h("header", { class: "top" }, h("a", { class: "brand", href: "#/" }, "agent-bridge"), nav);
  fill(body, header, view, notes, polite);

  let shown: { readonly place: Place; readonly view: View } | undefined;
  const app: App = {
    live,
    now: () => Date.now(),
    go(place, options = {}) {
      if (options.replace) history.replaceState(null, "", hashOf(place));
      else if (hashOf(place) !== location.hash) history.pushState(null, "", hashOf(place));
      show();
    },
    title: (text) => {
      document.title = text === "" ? "agent-bridge" : `${text} · agent-bridge`;
    },
    announce: (text) => setText(polite, text),
    note(text, kind = "done") {
      const note = h("div", { class: `note ${kind}`, role: kind === "failed" ? "alert" : "status" }, text);
      append(notes, [note]);
      setTimeout(() => note.remove(), 4_000);
    },
  };

  const show = (): void => {
    const place = placeOf(location.hash);
    fill(nav, ...links(place));
    if (shown?.view.move?.(place) === true) {
      shown = { place, view: shown.view };
      return;
    }
    shown?.view.close();
    const opened = openView(place, app);
    shown = { place, view: opened };
    fill(view, opened.element);
    opened.focus?.();
  };

  window.addEventListener("popstate", show);
  document.addEventListener("keydown", (event) => {
    if (shown?.view.key?.(event) === true) event.preventDefault();
  });
  setInterval(() => refreshTimes(body, Date.now()), 30_000);
  show();
}

const VIEWS: readonly (readonly [string, Place, readonly Place["view"][]])[] = [
  ["Sessions", { view: "home" }, ["home", "session"]],
  ["Runs", { view: "runs" }, ["runs", "run"]],
  ["Agents", { view: "agents" }, ["agents", "agent", "start"]],
];

function links(place: Place): HTMLElement[] {
  return VIEWS.map(([name, to, within]) =>
    h("a", { href: hashOf(to), "aria-current": within.includes(place.view) ? "page" : undefined }, name),
  );
}
