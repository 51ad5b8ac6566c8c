import { h } from "../dom.ts";
import type { Place } from "../places.ts";
import type { App, View } from "../view.ts";
import { openOwnSession } from "./session-view.ts";

/** The view at `place`: the sessions that were started from here, one of them, or the form that starts one. */
export function openAgents(place: Place, app: App): View {
  if (place.view === "agent") return openOwnSession(place.id, app);
  app.title(place.view);
  return { element: h("main", {}, place.view), close: () => undefined };
}
