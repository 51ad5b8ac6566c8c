import { Breather } from "../platform/breather.ts";
import { type EpochMs, epochMsOf } from "../platform/clock.ts";
import { Failure } from "../platform/failure.ts";
import { sortedInPieces } from "../platform/sorting.ts";
import type { AgentName } from "../transcript/names.ts";
import type { ProjectOf } from "./projects.ts";
import { placeIn } from "./shelf.ts";
import type { Listed } from "./store.ts";

/** The sessions of one project. */
export interface ProjectEntry {
  /** A folder; empty for sessions whose folder is not known. */
  readonly project: string;
  readonly sessions: number;
  /** How many of them a process is known to have open now. */
  readonly live: number;
  /** Of the session that was updated last: ms since the epoch. */
  readonly updatedAt: EpochMs;
  /** Whose sessions they are, by name. */
  readonly agents: readonly AgentName[];
}

/** A page of the list of projects. */
export interface ProjectPage {
  readonly projects: readonly ProjectEntry[];
  /** The `before` of the page after this one; null at the end. */
  readonly next: string | null;
  readonly total: number;
}

/** A place in the list: behind a project, or (a time alone) behind all projects of that time. */
export interface ProjectCursor {
  readonly updatedAt: EpochMs;
  readonly project?: string;
}

/** Reads `<updatedAt>:<project>`, or a time in ms alone, which means strictly older. @throws Failure bad-request */
export function parseProjectCursor(text: string): ProjectCursor {
  const [, time, escaped] = /^(-?\d{1,16})(?::((?:[!-$&-~]|%[0-9a-f]{4})*))?$/.exec(text) ?? [];
  const updatedAt = time === undefined ? undefined : epochMsOf(Number(time));
  if (updatedAt === undefined || (updatedAt < 0 && escaped === undefined)) {
    throw new Failure("bad-request", "before must be the next of an earlier page, or a time in milliseconds");
  }
  return escaped === undefined ? { updatedAt } : { updatedAt, project: unescaped(escaped) };
}

function formatProjectCursor({ updatedAt, project }: ProjectEntry): string {
  return `${updatedAt}:${project.replace(/[^!-$&-~]/g, escapedUnit)}`;
}

/** Paths may hold anything, also halves of characters, which no address can. */
function escapedUnit(unit: string): string {
  return `%${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function unescaped(text: string): string {
  return text.replace(/%(....)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Groups lists of sessions by their project: each list once, whoever asks. */
export class ProjectLists {
  readonly #made = new WeakMap<readonly Listed[], { of: ProjectOf; entries: Promise<readonly ProjectEntry[]> }>();

  /** One page: at most `limit` of the projects of `rows` (newest first, and never changed), from behind `before` on. */
  async page(
    rows: readonly Listed[],
    of: ProjectOf,
    before: ProjectCursor | undefined,
    limit: number,
  ): Promise<ProjectPage> {
    const entries = await this.#entries(rows, of);
    const start = before === undefined ? 0 : placeIn(entries, (entry) => isBehind(entry, before));
    const projects = entries.slice(start, start + limit);
    const last = projects.at(-1);
    const ends = start + limit >= entries.length || last === undefined;
    return { projects, next: ends ? null : formatProjectCursor(last), total: entries.length };
  }

  #entries(rows: readonly Listed[], of: ProjectOf): Promise<readonly ProjectEntry[]> {
    const held = this.#made.get(rows);
    if (held?.of === of) return held.entries;
    const entries = grouped(rows, of);
    this.#made.set(rows, { of, entries });
    return entries;
  }
}

interface Group {
  sessions: number;
  live: number;
  readonly updatedAt: EpochMs;
  readonly agents: Set<AgentName>;
}

/** How many rows are looked at between two breaths. */
const STRIDE = 256;

async function grouped(rows: readonly Listed[], of: ProjectOf): Promise<readonly ProjectEntry[]> {
  const breather = new Breather();
  const groups = new Map<string, Group>();
  for (let start = 0; start < rows.length; start += STRIDE) {
    for (const row of rows.slice(start, start + STRIDE)) addTo(groups, of(row.cwd), row);
    await breather.pause();
  }
  const entries = [...groups].map(([project, { agents, ...counts }]) => ({
    ...{ project, ...counts },
    agents: [...agents].sort(),
  }));
  return sortedInPieces(entries, compareEntries, breather);
}

function addTo(groups: Map<string, Group>, project: string, { agent, live, updatedAt }: Listed): void {
  // The first is the newest.
  const group = groups.get(project) ?? { sessions: 0, live: 0, updatedAt, agents: new Set() };
  groups.set(project, group);
  group.sessions++;
  if (live !== undefined) group.live++;
  group.agents.add(agent);
}

type Placed = Pick<ProjectEntry, "updatedAt" | "project">;

function compareEntries(a: Placed, b: Placed): number {
  return b.updatedAt - a.updatedAt || (a.project < b.project ? -1 : a.project > b.project ? 1 : 0);
}

function isBehind(entry: ProjectEntry, { updatedAt, project }: ProjectCursor): boolean {
  return project === undefined ? entry.updatedAt < updatedAt : compareEntries({ updatedAt, project }, entry) < 0;
}
