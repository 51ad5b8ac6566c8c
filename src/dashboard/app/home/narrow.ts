import type { Query } from "../api.ts";
import type { HomeFilter } from "../places.ts";
import { AGENTS } from "../wire.ts";

/** Whether `filter` leaves anything out. */
export function isNarrowed({ agent, project, q, state }: HomeFilter): boolean {
  return [agent, project, q, state].some((each) => each !== undefined);
}

/** Whether the list is one of projects: it is not while one is chosen. */
export function isByProject({ by, project }: HomeFilter): boolean {
  return by === "project" && project === undefined;
}

/** The part of a query that narrows a list. */
export function narrowing({ agent, project, q, state }: HomeFilter): Query {
  return { agent, project, q, state };
}

/** `filter` for the agent of that name, or for all when there is none. */
export function withAgent(filter: HomeFilter, name: string): HomeFilter {
  const { agent: _, ...rest } = filter;
  const agent = AGENTS.find((each) => each === name);
  return agent === undefined ? rest : { ...rest, agent };
}

/** `filter` for sessions in that state, or for all when there is none. */
export function withState(filter: HomeFilter, state: string): HomeFilter {
  const { state: _, ...rest } = filter;
  return state === "live" || state === "ended" ? { ...rest, state } : rest;
}
