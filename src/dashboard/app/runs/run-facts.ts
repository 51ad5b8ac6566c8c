import { readable, readableLine } from "../../../transcript/printable.ts";
import type { Place } from "../places.ts";
import { AGENTS, type Run } from "../wire.ts";

/** What a run is called: its title, else the beginning of its prompt, else its name. */
export function titleOf({ title, task, header, name }: Run): string {
  return [title, task, header, name].map((text) => readableLine(text ?? "")).find(Boolean) ?? "";
}

/** The text of a field of its metadata, as it can be shown; undefined when there is none. */
export function textOf(fields: unknown, field: string): string | undefined {
  const value = typeof fields === "object" && fields !== null && Reflect.get(fields, field);
  return typeof value === "string" && value !== "" ? readable(value) : undefined;
}

/** When it ended, ms since the epoch: as saved, else when its log was last written; undefined while it runs. */
export function endOf({ status, finishedAt, updatedAt }: Run): number | undefined {
  if (status === "running") return undefined;
  return finishedAt ?? updatedAt;
}

/** How long it took, ms; undefined while it runs, and when its start is not known. */
export function tookMs(run: Run): number | undefined {
  const end = endOf(run);
  return end === undefined || run.startedAt <= 0 || end < run.startedAt ? undefined : end - run.startedAt;
}

/** How a run ended, where its log or its metadata say more than its status does. */
export function outcomeOf(run: Run): string | undefined {
  const [, told] = /^finished after \S+ · (.*)$/s.exec(run.last) ?? [];
  const code = run.exitCode ?? run.exit;
  const words = [
    told !== undefined && told !== run.status && readableLine(told),
    textOf(run, "error"),
    typeof code === "number" && `exit ${code}`,
    run.status === "interrupted" && told === undefined && "nothing tells how it ended",
  ];
  return words.filter(Boolean).join(" · ") || undefined;
}

/** Who asked for it. */
export function askerOf(run: Run): string | undefined {
  return textOf(run, "by") ?? textOf(run, "owner");
}

/** The id of its session; undefined when none was saved. */
export function sessionIdOf(run: Run): string | undefined {
  return textOf(run, "sessionId") ?? textOf(run, "session");
}

/** Where a session of its agent is shown, its own if no other is told; undefined where there is no such place. */
export function sessionPlace(
  run: Run,
  id: string | undefined = sessionIdOf(run),
): (Place & { readonly view: "session" }) | undefined {
  const agent = AGENTS.find((name) => name === run.agent);
  return agent && id ? { view: "session", agent, id } : undefined;
}

/** What it goes on from: the newest earlier one of `runs` that has the name, or is of the session, that it continues. */
export function continuedRun({ name, startedAt, continues }: Run, runs: readonly Run[]): Run | undefined {
  return runs
    .filter((run) => run.name !== name && run.startedAt <= startedAt)
    .filter((run) => continues && (run.name === continues || sessionIdOf(run) === continues))
    .reduce<Run | undefined>((newest, run) => (newest && newest.startedAt > run.startedAt ? newest : run), undefined);
}
