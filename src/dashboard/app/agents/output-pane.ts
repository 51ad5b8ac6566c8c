import { path, send } from "../api.ts";
import { h, setText } from "../dom.ts";
import { button } from "../parts/controls.ts";
import { keepingFocus } from "../parts/focus.ts";
import { isLive } from "../parts/own-sessions.ts";
import { reasonOf } from "../parts/states.ts";
import type { OwnSession } from "../wire.ts";
import { inputBar } from "./input-bar.ts";
import { inputQueue, type Typed } from "./input-queue.ts";
import { followOutput } from "./output-stream.ts";
import { type ScreenView, screenView } from "./screen-view.ts";

import { typeInto } from "./type-into.ts";

/** What a session prints, and for a command or a terminal what is typed into it. */
export interface OutputPane {
  readonly element: HTMLElement;
  /** The session as it is now. */
  update(session: OwnSession): void;
  close(): void;
}

/** What is printed without a terminal has lines of any length, and may still move within the last of them. */
const PRINTED = { columns: 10_000, rows: 50, newline: true };

/** The output of `session`, followed as long as the pane is open. */
export function outputPane(session: OwnSession): OutputPane {
  const at = path("sessions", session.id);
  const isTerminal = session.kind === "terminal";
  const note = h("p", { class: "quiet", role: "status" });
  const fault = h("p", { class: "fault", role: "alert" });
  const end = button("To the end", () => view.toEnd(), "small to-end", { hidden: true });
  const box = h("div", {
    class: `screen ${isTerminal ? "terminal" : "printed"}`,
    tabindex: 0,
    role: isTerminal ? "application" : "region",
    "aria-label": isTerminal ? "Terminal. Shift and Tab, or Escape twice, leaves it." : "Output",
  });
  const view: ScreenView = screenView(box, isTerminal ? sizeOf(session) : PRINTED, (pinned) => {
    const hide = (): void => {
      end.hidden = pinned;
    };
    keepingFocus(end, hide, () => box.focus());
  });
  let now = session;
  let wrote = false;
  const tell = (over: boolean): void => setText(note, noteOf(now, wrote, over));
  const output = followOutput(at, {
    part({ text, cut }) {
      wrote = true;
      setText(note, cut ? "What was printed earlier is no longer kept." : "");
      view.write(text);
    },
    end() {
      view.end();
      tell(true);
    },
  });

  const queue = inputQueue(
    (typed: Typed) => send(`${at}/input`, typed),
    (error) => setText(fault, reasonOf(error)),
  );
  const type = (typed: Typed): void => {
    setText(fault, "");
    queue.push(typed);
  };
  const bar = session.kind === "agent" ? undefined : inputBar(session.kind, () => view.screen.wantsArrows, type);
  if (isTerminal)
    typeInto(
      view,
      () => isLive(now),
      type,
      () => bar?.focus(),
    );
  const hideBar = (element: HTMLElement, hidden: boolean): void => {
    const hide = (): void => {
      element.hidden = hidden;
    };
    keepingFocus(element, hide, () => box.focus());
  };
  const update = (next: OwnSession): void => {
    now = next;
    const { columns, rows } = sizeOf(next);
    if (isTerminal) view.resize(columns, rows);
    if (bar !== undefined) hideBar(bar.element, !isLive(next));
    if (!wrote) tell(false);
  };
  update(session);
  return {
    element: h("div", { class: "output" }, note, h("div", { class: "screen-frame" }, box, end), fault, bar?.element),
    update,
    close() {
      output.close();
      view.close();
    },
  };
}

/** The size of a terminal; the usual one where it is not known any more. */
function sizeOf({ columns = 80, rows = 24 }: OwnSession): { readonly columns: number; readonly rows: number } {
  return { columns, rows };
}

/** What is said above the screen. `over`: nothing more comes. */
function noteOf(session: OwnSession, wrote: boolean, over: boolean): string {
  if (wrote) return "";
  if (!over && isLive(session)) return "Nothing was printed yet.";
  if (session.status === "interrupted") return "What it printed is gone with the server that had started it.";
  return over ? "Nothing is kept of what it printed." : "";
}
