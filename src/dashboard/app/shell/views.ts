import { openAgents } from "../agents/agents.ts";
import { openSession } from "../chat/session.ts";
import { h } from "../dom.ts";
import { openHome } from "../home/home.ts";
import { empty } from "../parts/states.ts";
import { hashOf, type Place } from "../places.ts";
import { openRuns } from "../runs/runs.ts";
import type { App, View } from "../view.ts";

/** The view of `place`. */
export function openView(place: Place, app: App): View {
  switch (place.view) {
    case "home":
      return openHome(place, app);
    case "session":
      return openSession(place, app);
    case "runs":
    case "run":
      return openRuns(place, app);
    case "agents":
    case "agent":
    case "start":
      return openAgents(place, app);
    case "nowhere":
      return nowhere(app);
  }
}

function nowhere(app: App): View {
  app.title("Not found");
  const home = h("a", { href: hashOf({ view: "home" }) }, "All sessions");
  const element = h(
    "main",
    { class: "view" },
    h("h1", { class: "hidden" }, "Not found"),
    empty("This link leads nowhere.", h("p", {}, home)),
  );
  return { element, close: () => undefined };
}
