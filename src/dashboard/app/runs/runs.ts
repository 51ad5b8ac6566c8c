import { h } from "../dom.ts";
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
    const isBack = run !== undefined && to.view === "runs";
    if (run === undefined && to.view === "run") list?.hide();
    run?.close();
    run?.element.remove();
    run = undefined;
    if (to.view === "run") {
      list?.element.remove();
      run = openRun(to.name, app, () => list?.runs ?? []);
      element.append(run.element);
      run.focus();
      return true;
    }
    list ??= openRunList(app);
    element.append(list.element);
    const { view: _, ...filter } = to;
    list.show(filter);
    if (isBack) list.focus();
    return true;
  };
  move(place);
  return {
    element,
    move,
    key: (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return false;
      return run === undefined && list?.key(event) === true;
    },
    focus: () => run?.focus(),
    close() {
      run?.close();
      list?.close();
    },
  };
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, select, textarea") !== null;
}
