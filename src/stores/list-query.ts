import { Breather } from "../platform/breather.ts";
import { type EpochMs, epochMsOf } from "../platform/clock.ts";
import { Failure } from "../platform/failure.ts";
import { isWithin } from "../platform/files.ts";
import { type AgentName, agentNameOf, type SessionId, sessionIdOf } from "../transcript/names.ts";
import { isFolderPath, type ProjectOf } from "./projects.ts";
import { compareRows, placeIn } from "./shelf.ts";
import type { Listed } from "./store.ts";

/** `live`: a process is known to have the session open now. `ended`: every other session. */
export const LIST_STATES = ["live", "ended"] as const;

/** Rows in one page of a list, unless asked otherwise. */
export const LIST_LIMIT = 50;

/** Which sessions a list holds. */
export interface ListFilter {
  readonly agent?: AgentName | undefined;
  /** Sessions that started in one of these folders (absolute) or below. */
  readonly folders?: readonly string[] | undefined;
  /** Sessions whose own project is exactly this one. */
  readonly own?: OwnProject | undefined;
  /** Sessions whose folder is not known. */
  readonly folderless?: boolean | undefined;
  /** Stands in the title or the folder, in upper or lower case. */
  readonly q?: string | undefined;
  readonly state?: (typeof LIST_STATES)[number] | undefined;
  /** Also sessions that are children of another. */
  readonly children?: boolean | undefined;
}

/** A project by itself, without those within it. */
export interface OwnProject {
  readonly project: string;
  /** Tells the project of a folder; `revision` is another where it tells another one than before. */
  readonly of: ProjectOf;
  readonly revision: number;
}

/** A place in a list: behind a row, or (a time alone) behind all rows of that time. */
export interface RowCursor {
  readonly updatedAt: EpochMs;
  readonly row?: { readonly agent: AgentName; readonly id: SessionId };
}

/** A page of a list. */
export interface ListPage {
  readonly transcripts: readonly Listed[];
  /** The `before` of the page after this one; null at the end. */
  readonly next: string | null;
  /** Sessions that pass the filter, on whatever page. */
  readonly total: number;
}

/** Reads `<updatedAt>:<agent>:<id>`, or a time in ms alone, which means strictly older. @throws Failure bad-request */
export function parseRowCursor(text: string): RowCursor {
  const [, time, agentText, idText] = /^(-?\d{1,16})(?::([a-z]+):([^:]+))?$/.exec(text) ?? [];
  const updatedAt = time === undefined ? undefined : epochMsOf(Number(time));
  if (updatedAt === undefined || (updatedAt < 0 && agentText === undefined)) throw badRowCursor();
  if (agentText === undefined) return { updatedAt };
  const agent = agentNameOf(agentText);
  const id = sessionIdOf(idText);
  if (agent === undefined || id === undefined) throw badRowCursor();
  return { updatedAt, row: { agent, id } };
}

/** The rows that a filter passes, for one state of the list: each filter is worked out once, whoever asks. */
export class Selections {
  /** All of them. */
  readonly all: readonly Listed[];
  readonly #texts: WeakMap<Listed, string>;
  readonly #selected = new Map<string, Promise<readonly Listed[]>>();

  /** `texts` remembers, from one state of the list to the next, what `q` is looked for in. */
  constructor(rows: readonly Listed[], texts: WeakMap<Listed, string>) {
    this.all = rows;
    this.#texts = texts;
  }

  /** One page: at most `limit` of the rows that pass, from behind `before` on. */
  async page(filter: ListFilter, before: RowCursor | undefined, limit: number): Promise<ListPage> {
    const rows = await this.rows(filter);
    const start = before === undefined ? 0 : placeIn(rows, (row) => isBehind(row, before));
    const transcripts = rows.slice(start, start + limit);
    const last = transcripts.at(-1);
    const ends = start + limit >= rows.length || last === undefined;
    return { transcripts, next: ends ? null : formatRowCursor(last), total: rows.length };
  }

  /** All that pass, newest first: the same list as before for the same filter. */
  rows(filter: ListFilter): Promise<readonly Listed[]> {
    const { agent, folders, own, folderless, q, state, children } = filter;
    const of = own && [own.project, own.revision];
    const key = JSON.stringify([agent, folders, of, folderless === true, q, state, children === true]);
    const held = this.#selected.get(key);
    if (held !== undefined) return held;
    const rows = this.#passed(this.#passing(filter));
    if (this.#selected.size >= MOST_SELECTIONS) this.#selected.clear();
    this.#selected.set(key, rows);
    return rows;
  }

  async #passed(passes: (row: Listed) => boolean): Promise<readonly Listed[]> {
    const breather = new Breather();
    const passed: Listed[] = [];
    for (let start = 0; start < this.all.length; start += STRIDE) {
      for (const row of this.all.slice(start, start + STRIDE)) if (passes(row)) passed.push(row);
      await breather.pause();
    }
    return passed;
  }

  #passing({ agent, folders, own, folderless, q, state, children }: ListFilter): (row: Listed) => boolean {
    const wanted = q?.toLowerCase();
    return (row) =>
      (children === true || row.parent === undefined) &&
      (agent === undefined || row.agent === agent) &&
      (state === undefined || (row.live !== undefined) === (state === "live")) &&
      (folders === undefined || folders.some((folder) => isWithin(folder, row.cwd))) &&
      (own === undefined || own.of(row.cwd) === own.project) &&
      (folderless !== true || !isFolderPath(row.cwd)) &&
      (wanted === undefined || this.#text(row).includes(wanted));
  }

  #text(row: Listed): string {
    const held = this.#texts.get(row);
    if (held !== undefined) return held;
    // A line break can't be typed in a search box, so nothing is found across title and folder.
    const text = `${row.title}\n${row.cwd}`.toLowerCase();
    this.#texts.set(row, text);
    return text;
  }
}

const MOST_SELECTIONS = 32;
/** How many rows are looked at between two breaths. */
const STRIDE = 256;

function isBehind(row: Listed, { updatedAt, row: of }: RowCursor): boolean {
  return of === undefined ? row.updatedAt < updatedAt : compareRows({ updatedAt, ...of }, row) < 0;
}

function formatRowCursor(row: Listed): string {
  return `${row.updatedAt}:${row.agent}:${row.id}`;
}

function badRowCursor(): Failure {
  return new Failure("bad-request", "before must be the next of an earlier page, or a time in milliseconds");
}
