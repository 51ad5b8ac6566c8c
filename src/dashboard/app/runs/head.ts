import { readable, readableLine } from "../../../transcript/printable.ts";
import { path, read } from "../api.ts";
import { type Child, fill, h } from "../dom.ts";
import { copy } from "../parts/copy.ts";
import { reasonOf } from "../parts/states.ts";
import { time } from "../parts/time.ts";
import { hashOf } from "../places.ts";
import type { App } from "../view.ts";
import type { Run, Subagent } from "../wire.ts";
import type { promptIn } from "./log-rows.ts";
import { actors, bdi, jobChip, marks, statusBadge } from "./parts.ts";
import {
  agentOf,
  branchOf,
  continuedRun,
  endOf,
  outcomeOf,
  sessionIdOf,
  sessionPlace,
  textOf,
  titleOf,
  worktreeOf,
} from "./run-facts.ts";

/** What the head of a run is made with. */
export interface HeadTools {
  readonly app: App;
  /** Every run that is known. */
  known(): Iterable<Run>;
  /** As its log tells it. @throws Refused, Unreachable */
  prompt(): Promise<ReturnType<typeof promptIn>>;
}

/** The head of a run: what it is, how it stands, and what belongs to it. */
export interface Head {
  readonly element: HTMLElement;
  show(run: Run): void;
}

/** Makes the head of a run. */
export function makeHead(tools: HeadTools): Head {
  const title = h("h1", { dir: "auto", tabindex: -1 });
  const facts = h("div", { class: "run-facts" });
  const more = h("dl", { class: "run-more" });
  const prompt = folded("Prompt", (run) => promptOf(run, tools));
  const subagents = folded("Subagents", subagentsOf);
  const folds = h("div", { class: "run-folds" }, prompt.element, subagents.element);
  const back = h("a", { class: "quiet", href: hashOf({ view: "runs" }) }, "‹ Runs");
  const actions = h("div", { class: "run-actions" });
  const top = h("div", { class: "run-top" }, title, actions);
  return {
    element: h("header", { class: "run-head" }, back, top, facts, more, folds),
    show(run) {
      fill(title, titleOf(run));
      const place = sessionPlace(run);
      const link = (): void => void copy(tools.app, location.href, "Link");
      fill(
        actions,
        place && h("a", { class: "button small", href: hashOf(place) }, "Session"),
        h("button", { type: "button", class: "button small", on: { click: link } }, "Copy link"),
      );
      const now = tools.app.now();
      const started = run.startedAt > 0 && h("span", { class: "quiet" }, "started ", time(run.startedAt, now));
      const end = endOf(run);
      const ended = end !== undefined && h("span", { class: "quiet" }, "ended ", time(end, now));
      fill(facts, statusBadge(run.status), actors(run, now), started, ended, jobChip(run), marks(run));
      fill(more, details(run, tools.known()));
      more.hidden = more.childElementCount === 0;
      prompt.show(run);
      subagents.show(run);
      subagents.element.hidden = !run.job;
    },
  };
}

/** What is said of a run in words and their meaning. */
function details(run: Run, known: Iterable<Run>): Child[] {
  const outcome = outcomeOf(run);
  const parent = textOf(run, "parentJob");
  const jobLink = parent !== undefined && h("a", { href: hashOf({ view: "runs", job: parent }) }, bdi(parent));
  return [
    outcome !== undefined && pair("Outcome", h("span", { class: run.status, dir: "auto" }, outcome)),
    run.workdir && pair("Folder", bdi(run.workdir)),
    pair("Branch", branchOf(run)),
    pair("Worktree", worktreeOf(run)),
    pair("Access", textOf(run, "access")),
    pair("Continues", continued(run, known)),
    jobLink && pair("Job above", jobLink),
    sessionIdOf(run) !== undefined && sessionPlace(run) === undefined && pair("Session", sessionIdOf(run)),
  ];
}

function pair(name: string, value: Node | string | undefined): Child {
  return value && h("div", {}, h("dt", {}, name), h("dd", {}, typeof value === "string" ? bdi(value) : value));
}

function continued(run: Run, known: Iterable<Run>): Node | undefined {
  if (!run.continues) return undefined;
  const before = continuedRun(run, known);
  const place = before ? ({ view: "run", name: before.name } as const) : sessionPlace(run, run.continues);
  const words = bdi(before ? titleOf(before) : run.continues);
  return place === undefined ? words : h("a", { href: hashOf(place) }, words);
}

async function promptOf(run: Run, { prompt }: HeadTools): Promise<Child> {
  const saved = textOf(run, "prompt");
  const told = saved === undefined && run.hasLog ? await prompt() : undefined;
  const text = saved ?? told?.prompt ?? run.task;
  if (text === "") return h("p", { class: "quiet" }, "Nothing tells what it was asked.");
  const note =
    told?.cut === true && h("p", { class: "quiet" }, "It is longer than one read of the log: the log has all of it.");
  return [h("pre", { class: "run-prompt", dir: "auto", tabindex: 0 }, readable(text)), note];
}

async function subagentsOf(run: Run): Promise<Child> {
  const { subagents } = await read<{ readonly subagents: readonly Subagent[] }>(
    path("jobs", run.job ?? "", "subagents"),
  );
  if (subagents.length === 0) return h("p", { class: "quiet" }, "The job has no subagents.");
  const agent = agentOf(run);
  const id = sessionIdOf(run);
  const items = subagents.map((child) => {
    const words = readableLine(child.title) || child.id;
    const link =
      agent !== undefined && id !== undefined
        ? h("a", { href: hashOf({ view: "session", agent, id, child: child.id }), dir: "auto" }, words)
        : bdi(words);
    return h("li", {}, link, " ", h("span", { class: "status", "data-status": child.status }, child.status));
  });
  return h("ul", { role: "list", class: "run-subagents" }, items);
}

/** What is asked for when it is opened, and again whenever that is done. */
function folded(name: string, make: (run: Run) => Promise<Child>): Head {
  let run: Run | undefined;
  const body = h("div");
  const draw = async (): Promise<void> => {
    if (run === undefined) return;
    try {
      fill(body, await make(run));
    } catch (error) {
      fill(body, h("p", { class: "quiet", role: "alert" }, reasonOf(error)));
    }
  };
  const element = h("details", {}, h("summary", {}, name), body);
  element.addEventListener("toggle", () => {
    if (element.open) void draw();
  });
  return {
    element,
    show(now) {
      run = now;
    },
  };
}
