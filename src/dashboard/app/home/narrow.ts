import type { Query } from "../api.ts";
import type { HomeFilter } from "../places.ts";

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
