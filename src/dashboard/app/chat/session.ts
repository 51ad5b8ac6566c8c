import { h } from "../dom.ts";
import type { Place } from "../places.ts";
import type { App, View } from "../view.ts";

/** The view of a session. */
export function openSession(place: Place & { readonly view: "session" }, app: App): View {
  app.title(place.id);
  return { element: h("main", {}, place.view), close: () => undefined };
}
