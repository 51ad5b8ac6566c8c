import { readable } from "../../../transcript/printable.ts";
import { path, read } from "../api.ts";
import { type Child, fill, h } from "../dom.ts";
import { exportMenu } from "../parts/export.ts";
import { refill } from "../parts/refill.ts";
import { reasonOf } from "../parts/states.ts";
import { time } from "../parts/time.ts";
import { bdi, quiet, statusBadge } from "../parts/words.ts";
import { hashOf } from "../places.ts";
import type { App } from "../view.ts";
import type { Run, Subagent } from "../wire.ts";
import type { Prompt } from "./log-rows.ts";
import { facts } from "./parts.ts";
import { continuedRun, endOf, outcomeOf, sessionIdOf, sessionPlace, textOf, titleOf } from "./run-facts.ts";

/** What the head of a run is made with. */
export interface HeadTools {
  readonly app: App;
  /** Every run that is known. */
  known(): readonly Run[];
  /** As its log tells it. @throws Refused, Unreachable */
  prompt(): Promise<Prompt | undefined>;
}

/** A part of the page that shows a run. */
export interface Shows {
  readonly element: HTMLElement;
  show(run: Run): void;
}

/** The head of a run: what it is, how it stands, and what belongs to it. */
export function makeHead({ app, known, prompt }: HeadTools): Shows {
  const title = h("h1", { class: "clamp", dir: "auto", tabindex: -1 });
  const actions = h("div", { class: "actions" });
  const line = h("div", { class: "facts" });
  const more = h("dl", { class: "facts" });
  const folds = [
    folded("Prompt", (run) => promptOf(run, prompt)),
    folded("Subagents of the job", subagentsOf),
  ] as const;
  const back = h("a", { class: "quiet", href: hashOf({ view: "runs" }) }, "‹ Runs");
  const what = h(
    "div",
    { class: "run-what" },
    back,
    title,
    line,
    more,
    h("div", { class: "facts" }, folds.map(elementOf)),
  );
  const focus = (): void => title.focus({ preventScroll: true });
  let name: string | undefined;
  return {
    element: h("header", { class: "session-head run-head" }, what, actions),
    show(run) {
      fill(title, titleOf(run));
      const place = sessionPlace(run);
      if (name !== run.name || actions.childElementCount < (place ? 2 : 1)) {
        name = run.name;
        const link = place && h("a", { class: "button small", href: hashOf(place) }, "Session");
        const menu = exportMenu(app, { path: path("runs", run.name), place: { view: "run", name: run.name } });
        refill(actions, [link, menu], focus);
      }
      const now = app.now();
      const end = endOf(run);
      const started = run.startedAt > 0 && quiet("started ", time(run.startedAt, now));
      refill(line, [statusBadge(run.status), facts(run, now), started, end && quiet("ended ", time(end, now))], focus);
      refill(more, details(run, known()), focus);
      for (const fold of folds) fold.show(run);
      folds[1].element.hidden = !run.job;
    },
  };
}

/** What is told of a run in a word and its meaning. */
function details(run: Run, known: readonly Run[]): Child[] {
  const { continues, workdir, worktree, status } = run;
  const before = continuedRun(run, known);
  const tree = textOf(run, "worktree") ?? textOf(worktree, "workdir") ?? textOf(worktree, "cwd");
  const above = textOf(run, "parentJob");
  const outcome = outcomeOf(run);
  const place = before ? ({ view: "run", name: before.name } as const) : sessionPlace(run, continues ?? "");
  return [
    pair("Outcome", outcome && h("span", { class: `run-last ${status}`, dir: "auto" }, outcome)),
    pair("Folder", workdir),
    pair("Branch", textOf(run, "branch") ?? textOf(worktree, "branch")),
    pair("Worktree", tree === workdir ? undefined : tree),
    pair("Continues", place ? link(hashOf(place), before ? titleOf(before) : continues) : continues),
    pair("Parent job", above && link(hashOf({ view: "runs", job: above }), above)),
    pair("Session", sessionPlace(run) ? undefined : sessionIdOf(run)),
  ];
}

function pair(name: string, value: HTMLElement | string | null | undefined): Child {
  return value && h("div", {}, h("dt", {}, name), h("dd", {}, typeof value === "string" ? bdi(value) : value));
}

function link(href: string, words: string | null): HTMLElement {
  return h("a", { href }, bdi(words ?? ""));
}

async function promptOf(run: Run, prompt: HeadTools["prompt"]): Promise<Child> {
  const saved = textOf(run, "prompt");
  const told = saved === undefined && run.hasLog ? await prompt() : undefined;
  const text = saved ?? told?.prompt ?? run.task;
  return [
    h("pre", { class: "run-prompt", dir: "auto", tabindex: 0 }, readable(text) || "Nothing tells what was asked."),
    told?.cut && h("p", { class: "quiet" }, "The rest of it is in the log."),
  ];
}

async function subagentsOf(run: Run): Promise<Child> {
  const { subagents } = await read<{ readonly subagents: readonly Subagent[] }>(
    path("jobs", run.job ?? "", "subagents"),
  );
  const place = sessionPlace(run);
  const items = subagents.map(({ id: child, title, status }) => {
    const words = title || child;
    return h(
      "li",
      { class: "facts" },
      place ? link(hashOf({ ...place, child }), words) : bdi(words),
      statusBadge(status),
    );
  });
  return items.length === 0 ? quiet("There are none.") : h("ul", { role: "list" }, items);
}

/** What is asked for when it is opened. */
function folded(name: string, make: (run: Run) => Promise<Child>): Shows {
  let run: Run | undefined;
  const body = h("div");
  const draw = async (): Promise<void> => {
    if (run === undefined || !element.open) return;
    try {
      fill(body, await make(run));
    } catch (error) {
      fill(body, h("p", { class: "quiet", role: "alert" }, reasonOf(error)));
    }
  };
  const element = h("details", { on: { toggle: () => void draw() } }, h("summary", {}, name), body);
  return {
    element,
    show(now) {
      run = now;
    },
  };
}

function elementOf({ element }: Shows): HTMLElement {
  return element;
}
