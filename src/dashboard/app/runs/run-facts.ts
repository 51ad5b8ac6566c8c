import { readable, readableLine } from "../../../transcript/printable.ts";
import type { Place } from "../places.ts";
import { AGENTS, type AgentName, type Run } from "../wire.ts";

/** What a run is called: its title, else the beginning of its prompt, else its name. */
export function titleOf(run: Run): string {
  return [run.title, run.task, run.header, run.name].map((text) => readableLine(text ?? "")).find(Boolean) ?? "";
}

/** A text among what its metadata says, as it can be shown; undefined when there is none. */
export function textOf(run: Run, field: string): string | undefined {
  const value = run[field];
  return typeof value === "string" && value !== "" ? readable(value) : undefined;
}

/** When it ended, ms since the epoch: as saved, else when its log was last written; undefined while it runs. */
export function endOf(run: Run): number | undefined {
  if (run.status === "running") return undefined;
  const { finishedAt } = run;
  return typeof finishedAt === "number" ? finishedAt : run.updatedAt;
}

/** How long it took, ms; undefined while it runs, and when its start is not known. */
export function tookMs(run: Run): number | undefined {
  const end = endOf(run);
  return end === undefined || run.startedAt <= 0 || end < run.startedAt ? undefined : end - run.startedAt;
}

/** How a run ended, in the words of its log, where they say more than its status does. */
export function outcomeOf(run: Run): string | undefined {
  const [, told] = /^finished after \S+ · (.*)$/s.exec(run.last) ?? [];
  const error = textOf(run, "error");
  const said = told === undefined || told === run.status ? undefined : readableLine(told);
  const code = run.exitCode ?? run.exit;
  const exit = typeof code === "number" ? `exit ${code}` : undefined;
  const words = [said, error, exit].filter((text) => text !== undefined);
  if (words.length > 0) return words.join(" · ");
  if (run.status !== "interrupted" || told !== undefined) return undefined;
  return run.recovered ? "its saved job does not say how it ended" : "its log does not say how it ended";
}

/** Who asked for it. */
export function askerOf(run: Run): string | undefined {
  return textOf(run, "by") ?? textOf(run, "owner");
}

/** The id of its session; undefined when none was saved. */
export function sessionIdOf(run: Run): string | undefined {
  return textOf(run, "sessionId") ?? textOf(run, "session");
}

/** Where its session is shown; undefined when none was saved, or its agent's sessions can't be read. */
export function sessionPlace(run: Run, id: string | undefined = sessionIdOf(run)): Place | undefined {
  const agent = agentOf(run);
  return agent === undefined || id === undefined ? undefined : { view: "session", agent, id };
}

/** Its agent, when that is one whose sessions can be read. */
export function agentOf(run: Run): AgentName | undefined {
  return AGENTS.find((name) => name === run.agent);
}

/** What it goes on from: the newest earlier one of `runs` that is of the session, or has the name, that it continues. */
export function continuedRun(run: Run, runs: Iterable<Run>): Run | undefined {
  const { continues } = run;
  if (!continues) return undefined;
  let newest: Run | undefined;
  for (const other of runs) {
    if (other.name === run.name || other.startedAt > run.startedAt) continue;
    if (other.name !== continues && sessionIdOf(other) !== continues) continue;
    if (newest === undefined || other.startedAt > newest.startedAt) newest = other;
  }
  return newest;
}

/** The branch it worked on. */
export function branchOf(run: Run): string | undefined {
  return textOf(run, "branch") ?? fieldOf(run.worktree, "branch");
}

/** The folder of its worktree, where that is not the folder it ran in. */
export function worktreeOf(run: Run): string | undefined {
  const path = textOf(run, "worktree") ?? fieldOf(run.worktree, "workdir") ?? fieldOf(run.worktree, "cwd");
  return path === run.workdir ? undefined : path;
}

function fieldOf(value: unknown, field: string): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const text = Reflect.get(value, field);
  return typeof text === "string" && text !== "" ? readable(text) : undefined;
}
