import { oneLine } from "../../transcript/one-line.ts";
import { type Query, withQuery } from "./api.ts";
import { encoded } from "./encoded.ts";
import { AGENTS, type AgentName, type RunStatus, STATUSES } from "./wire.ts";

/** What a list of sessions is narrowed to. */
export interface HomeFilter {
  readonly agent?: AgentName;
  readonly project?: string;
  readonly q?: string;
  readonly state?: "live" | "ended";
  /** `day` when absent. */
  readonly by?: "day" | "project";
}

/** What the list of runs is narrowed to. */
export interface RunsFilter {
  readonly status?: RunStatus;
  /** Also one whose sessions can't be read. */
  readonly agent?: string;
  readonly job?: string;
  readonly q?: string;
}

/** Where in the page one is; it stands in the address behind `#`, which no server is told and every link can hold. */
export type Place =
  | ({ readonly view: "home" } & HomeFilter)
  /** A session, or with `child` one of its subagents; `ref` is the item to show. */
  | {
      readonly view: "session";
      readonly agent: AgentName;
      readonly id: string;
      readonly child?: string;
      readonly ref?: string;
    }
  | ({ readonly view: "runs" } & RunsFilter)
  | { readonly view: "run"; readonly name: string }
  /** Sessions started from here. */
  | { readonly view: "agents" }
  | { readonly view: "agent"; readonly id: string }
  | { readonly view: "start"; readonly agent?: string; readonly cwd?: string }
  /** An address that leads nowhere. */
  | { readonly view: "nowhere" };

/** `place` as the `#…` of an address. */
export function hashOf(place: Place): string {
  switch (place.view) {
    case "home": {
      const { agent, project, q, state, by } = place;
      return hash([], { agent, project, q, state, by: by === "day" ? undefined : by });
    }
    case "session":
      return hash([place.agent, place.id, ...(place.child === undefined ? [] : [place.child])], { ref: place.ref });
    case "runs":
      return hash(["runs"], { status: place.status, agent: place.agent, job: place.job, q: place.q });
    case "run":
      return hash(["runs", place.name]);
    case "agent":
      return hash(["agents", place.id]);
    case "start":
      return hash(["start"], { agent: place.agent, cwd: place.cwd });
    case "agents":
    case "nowhere":
      return hash([place.view]);
  }
}

/** The place that the `#…` of an address names; an empty one is home. */
export function placeOf(hashText: string): Place {
  const [pathText = "", queryText = ""] = hashText.replace(/^#?\/?/, "").split(/\?(.*)/s);
  const parts = pathText.split("/").filter(Boolean).map(decoded);
  const query = new URLSearchParams(queryText);
  const [first, second, third, ...rest] = parts;
  if (rest.length > 0) return NOWHERE;
  if (first === undefined) return homeOf(query);
  const agent = agentOf(first);
  if (agent !== undefined)
    return second === undefined ? { view: "home", agent } : sessionOf(agent, second, third, query);
  if (third !== undefined) return NOWHERE;
  if (first === "runs") return second === undefined ? runsOf(query) : { view: "run", name: second };
  if (first === "agents") return second === undefined ? { view: "agents" } : { view: "agent", id: second };
  if (first === "start" && second === undefined)
    return { view: "start", ...some({ agent: query.get("agent"), cwd: query.get("cwd") }) };
  return NOWHERE;
}

const NOWHERE: Place = { view: "nowhere" };

function homeOf(query: URLSearchParams): Place {
  const agent = agentOf(query.get("agent"));
  const state = query.get("state");
  const known = state === "live" || state === "ended" ? ({ state } as const) : {};
  const by = query.get("by") === "project" ? ({ by: "project" } as const) : {};
  return {
    view: "home",
    ...(agent !== undefined && { agent }),
    ...known,
    ...by,
    ...some({ project: query.get("project"), q: wordsOf(query) }),
  };
}

function runsOf(query: URLSearchParams): Place {
  const status = STATUSES.find((name) => name === query.get("status"));
  const rest = some({ agent: query.get("agent"), job: query.get("job"), q: wordsOf(query) });
  return { view: "runs", ...(status !== undefined && { status }), ...rest };
}

/** What is searched for, as the field has it: between words there is one space. */
function wordsOf(query: URLSearchParams): string {
  return oneLine(query.get("q") ?? "");
}

function sessionOf(agent: AgentName, id: string, child: string | undefined, query: URLSearchParams): Place {
  return { view: "session", agent, id, ...(child !== undefined && { child }), ...some({ ref: query.get("ref") }) };
}

/** The fields that say something. */
function some<K extends string>(fields: { readonly [N in K]: string | null }): { readonly [N in K]?: string } {
  const kept = Object.entries<string | null>(fields).filter(([, value]) => value !== null && value !== "");
  return Object.fromEntries(kept) as { [N in K]?: string };
}

function agentOf(text: string | null): AgentName | undefined {
  return AGENTS.find((name) => name === text);
}

function hash(parts: readonly string[], query: Query = {}): string {
  return `#${withQuery(`/${parts.map(encoded).join("/")}`, query)}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
