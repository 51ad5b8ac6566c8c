import type { Place } from "../places.ts";
import type { App, View } from "../view.ts";
import { openList } from "./list-view.ts";
import { openOwnSession } from "./session-view.ts";
import { openStart } from "./start-view.ts";

/** The view at `place`: the sessions that were started from here, one of them, or the form that starts one. */
export function openAgents(place: Place, app: App): View {
  if (place.view === "agent") return openOwnSession(place.id, app);
  return place.view === "start" ? openStart(place, app) : openList(app);
}
