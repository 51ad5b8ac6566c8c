import { h } from "../dom.ts";
import { LIST_KEYS } from "../parts/keys.ts";
import type { Place } from "../places.ts";
import type { App, View } from "../view.ts";
import { openRunList, type RunList } from "./list.ts";
import { openRun, type RunView } from "./run.ts";

/** The view of the runs, and of one of them: the list is where it was when one comes back to it. */
export function openRuns(place: Place, app: App): View {
  const element = h("div", { class: "runs-view" });
  let list: RunList | undefined;
  let run: RunView | undefined;
  const move = (to: Place): boolean => {
    if (to.view !== "runs" && to.view !== "run") return false;
    if (run === undefined && to.view === "run") list?.hide();
    run?.close();
    run = to.view === "run" ? openRun(to.name, app, () => list?.runs() ?? []) : undefined;
    if (run === undefined) list ??= openRunList(app);
    const shown = (run ?? list)?.element;
    // What is taken out and put back loses the focus.
    if (shown !== undefined && shown !== element.firstElementChild) element.replaceChildren(shown);
    run?.focus();
    if (to.view === "runs") {
      const { view: _, ...filter } = to;
      list?.show(filter);
    }
    return true;
  };
  move(place);
  return {
    element,
    move,
    keys: LIST_KEYS,
    key: (event) => run === undefined && list?.key(event) === true,
    focus: () => run?.focus(),
    close() {
      run?.close();
      list?.close();
    },
  };
}
