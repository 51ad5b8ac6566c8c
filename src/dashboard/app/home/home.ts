import { h } from "../dom.ts";
import type { Place } from "../places.ts";
import type { App, View } from "../view.ts";

/** The view at `place`. */
export function openHome(place: Place, app: App): View {
  app.title(place.view);
  return { element: h("main", {}, place.view), close: () => undefined };
}
