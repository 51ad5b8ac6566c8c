import { type Query, read } from "../api.ts";
import type { Run, RunPage, State } from "../wire.ts";

/** The fields that come from the metadata of a run as they stand there, and what each is to be; `null` says nothing. */
const SAVED = {
  job: isText,
  title: isText,
  model: isText,
  session: isText,
  sessionId: isText,
  finishedAt: isTime,
};

/** Reads a page of the list of runs. @throws Refused, Unreachable */
export async function readRunPage(query: Query): Promise<RunPage> {
  const page = await read<RunPage>("/api/runs", query);
  return { ...page, runs: page.runs.map(soundRun) };
}

/** Reads the state of the server. @throws Refused, Unreachable; the signal's reason when that ended it */
export async function readState(signal?: AbortSignal): Promise<State> {
  const state = await read<State>("/api/state", {}, signal);
  return { ...state, runs: state.runs.map(soundRun), running: state.running.map(soundRun) };
}

/** `run` without what the server took unseen from its metadata and is none of what it should be: that is not known then. */
export function soundRun(run: Run): Run {
  const damaged = Object.entries(SAVED).filter(([field, isSound]) => run[field] !== undefined && !isSound(run[field]));
  return damaged.length === 0 ? run : { ...run, ...Object.fromEntries(damaged.map(([field]) => [field, undefined])) };
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isTime(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(new Date(value).getTime());
}
