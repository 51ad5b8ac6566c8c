import { Unreachable } from "../api.ts";
import { fill, h } from "../dom.ts";
import { refetching } from "../parts/refetch.ts";
import { refill } from "../parts/refill.ts";
import { empty, failure, loading } from "../parts/states.ts";
import { hashOf } from "../places.ts";
import type { App } from "../view.ts";
import type { Run } from "../wire.ts";
import { openChatSide } from "./chat-side.ts";
import { findRun } from "./find-run.ts";
import { makeHead } from "./head.ts";
import { openLogPane } from "./log-pane.ts";
import { titleOf } from "./run-facts.ts";
import { sides } from "./sides.ts";

/** How often a running run is asked for what is new, beside when the server says that there is: ms. */
const POLL_MS = 2_000;

/** One run. */
export interface RunView {
  readonly element: HTMLElement;
  focus(): void;
  close(): void;
}

/** Opens the run `name`. `known` gives every run that is known so far. */
export function openRun(name: string, app: App, known: () => readonly Run[]): RunView {
  app.title("Run");
  const log = openLogPane(name, app);
  const chat = openChatSide(name, app);
  const panes = sides({ Log: log.element, Chat: chat.element });
  const state = h("div", {}, loading("Looking for the run"));
  const head = makeHead({ app, known, prompt: log.prompt });
  const element = h("main", { class: "run" }, state);
  let run: Run | undefined;

  const show = (found: Run): void => {
    if (run === undefined) fill(element, head.element, state, panes.element);
    else if (run.status !== found.status) app.announce(`The run is ${found.status}`);
    run = found;
    app.title(titleOf(found));
    head.show(found);
    chat.show(found);
    refill(state, [], () => element.querySelector("h1")?.focus({ preventScroll: true }));
  };
  const refetch = refetching(
    async (signal) => {
      const [found] = await Promise.all([findRun(name, run?.startedAt), log.refresh()]);
      if (signal.aborted) return;
      if (found !== undefined) show(found);
      else fill(state, missing());
    },
    {
      failed(error) {
        if (run === undefined || !(error instanceof Unreachable)) {
          fill(state, failure("The run can't be shown.", error, refetch.ask));
        }
      },
    },
  );

  const first = known().find((one) => one.name === name);
  if (first !== undefined) show(first);
  refetch.ask();
  const off = app.live.on("runs", ({ ids }) => {
    if (ids === undefined || ids.includes(name)) refetch.ask();
  });
  const poll = setInterval(() => {
    if (run?.status === "running") refetch.ask();
  }, POLL_MS);
  return {
    element,
    focus: () => element.querySelector("h1")?.focus({ preventScroll: true }),
    close() {
      clearInterval(poll);
      off();
      for (const part of [refetch, log, chat, panes]) part.close();
    },
  };
}

function missing(): HTMLElement {
  return empty(
    "There is no such run.",
    h("p", {}, "Its files are gone, or the link is wrong."),
    h("p", {}, h("a", { href: hashOf({ view: "runs" }) }, "All runs")),
  );
}
