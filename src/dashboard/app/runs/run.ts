import { fill, h } from "../dom.ts";
import { empty, failure, loading } from "../parts/states.ts";
import { hashOf } from "../places.ts";
import type { App } from "../view.ts";
import type { Run } from "../wire.ts";
import { calmly } from "./calmly.ts";
import { openChatSide } from "./chat-side.ts";
import { findRun } from "./find-run.ts";
import { makeHead } from "./head.ts";
import { openLogPane } from "./log-pane.ts";
import { titleOf } from "./run-facts.ts";
import { panes } from "./tabs.ts";

/** How often the log of a running run is asked for what is new, beside when the server says that there is: ms. */
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
  const chat = openChatSide(name);
  const sides = panes([
    { name: "Log", element: log.element },
    { name: "Chat", element: chat.element },
  ]);
  const state = h("div", {}, loading("Looking for the run"));
  const head = makeHead({ app, known, prompt: () => log.prompt() });
  const element = h("main", { class: "run" }, head.element, state, sides.element);
  head.element.hidden = sides.element.hidden = true;

  let run: Run | undefined;
  let isClosed = false;
  const show = (found: Run): void => {
    if (run !== undefined && run.status !== found.status) app.announce(`The run is ${found.status}`);
    run = found;
    app.title(titleOf(found));
    head.show(found);
    chat.show(found);
    head.element.hidden = sides.element.hidden = false;
    fill(state);
  };
  const looked = calmly(async () => {
    try {
      const found = await findRun(name, run?.startedAt);
      if (isClosed) return;
      if (found !== undefined) show(found);
      else fill(state, missing());
    } catch (error) {
      if (run === undefined && !isClosed) fill(state, failure("The run can't be shown.", error, looked.ask));
    }
  });
  const logged = calmly(() => log.refresh(), 250);

  const first = known().find((one) => one.name === name);
  if (first !== undefined) show(first);
  looked.ask();
  logged.ask();
  const off = app.live.on("runs", ({ ids }) => {
    if (ids !== undefined && !ids.includes(name)) return;
    looked.ask();
    logged.ask();
  });
  const poll = setInterval(() => {
    if (run?.status !== "running") return;
    looked.ask();
    logged.ask();
  }, POLL_MS);
  return {
    element,
    focus: () => element.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true }),
    close() {
      isClosed = true;
      clearInterval(poll);
      off();
      for (const part of [looked, logged, log, sides]) part.close();
    },
  };
}

function missing(): HTMLElement {
  const all = h("a", { href: hashOf({ view: "runs" }) }, "All runs");
  return empty("There is no such run.", h("p", {}, "Its files are gone, or the link is wrong."), h("p", {}, all));
}
