import { type Query, read, transcriptPath } from "../api.ts";
import { dayOf } from "../parts/time.ts";
import type { HomeFilter } from "../places.ts";
import type { Project, ProjectPage, Row, RowPage, SessionEntry } from "../wire.ts";
import { dayLines, type Line, projectLines, rowKey } from "./lines.ts";
import { isByProject, narrowing } from "./narrow.ts";
import { PagedList } from "./paged.ts";

/** Rows of a page of the list, and of what a project unfolds to. */
const PAGE = 60;
const PROJECT_PAGE = 20;
/** Live rows further down that are asked for one by one when they are named as changed. */
const MOST_SINGLE = 10;

/** The sessions that a filter passes, by day or by project, and what of them was read. */
export class Sessions {
  readonly filter: HomeFilter;
  readonly #changed: () => void;
  readonly #list: PagedList<Row> | undefined;
  readonly #projects: PagedList<Project> | undefined;
  readonly #opened = new Map<string, PagedList<Row>>();

  /** `changed` is called whenever the lines may be other ones. */
  constructor(filter: HomeFilter, changed: () => void) {
    this.filter = filter;
    this.#changed = changed;
    if (isByProject(filter)) this.#projects = projectList(narrowing(filter), changed);
    else this.#list = rowList(narrowing(filter), PAGE, changed);
  }

  /** The list that is paged through: sessions, or projects. */
  get main(): PagedList<Row> | PagedList<Project> {
    const main = this.#list ?? this.#projects;
    if (main === undefined) throw new Error("a list is of sessions or of projects");
    return main;
  }

  /** What the list counts. */
  get unit(): "session" | "project" {
    return this.#list === undefined ? "project" : "session";
  }

  /** The projects that are open. */
  get open(): readonly string[] {
    return [...this.#opened.keys()];
  }

  /** Reads the first `count` rows, and the sessions of the projects in `open`. */
  async start(count?: number, open: readonly string[] = []): Promise<void> {
    await Promise.all([this.main.start(count), ...open.map((project) => this.#unfold(project))]);
  }

  lines(now: number): readonly Line[] {
    if (this.#list !== undefined) return dayLines(this.#list.rows, this.#list.total, (at) => dayOf(at, now));
    return projectLines(this.#projects?.rows ?? [], this.#projects?.total ?? 0, this.#opened);
  }

  /** Opens a project, or closes it; whether it is open now. */
  fold(project: string): boolean {
    const opened = this.#opened.get(project);
    if (opened === undefined) {
      void this.#unfold(project);
      return true;
    }
    opened.close();
    this.#opened.delete(project);
    this.#changed();
    return false;
  }

  isOpen(project: string): boolean {
    return this.#opened.has(project);
  }

  /** Reads more of a project's sessions, or reads them again where that failed. */
  async moreOf(project: string): Promise<void> {
    const opened = this.#opened.get(project);
    if (opened?.ready) await opened.more();
    else await opened?.start();
  }

  /** Brings up to date what was read. `ids` are the sessions that have changed, undefined when it may be any. */
  async refresh(hold: () => boolean, ids: ReadonlySet<string> | undefined): Promise<void> {
    const pages = await Promise.all([this.main, ...this.#opened.values()].map((list) => list.refresh(hold)));
    const fresh = new Set(pages.flat().map((each) => ("id" in each ? rowKey(each) : "")));
    const lists = [this.#list, ...this.#opened.values()].filter((list) => list !== undefined);
    const stale = lists.flatMap((list) =>
      list.rows.filter((row) => row.live !== undefined && ids?.has(row.id) !== false && !fresh.has(rowKey(row))),
    );
    await Promise.all(stale.slice(0, MOST_SINGLE).map((row) => this.#refreshOne(row)));
  }

  close(): void {
    this.main.close();
    for (const list of this.#opened.values()) list.close();
  }

  async #refreshOne({ agent, id }: Row): Promise<void> {
    try {
      const entry = await read<SessionEntry>(transcriptPath(agent, id));
      for (const list of [this.#list, ...this.#opened.values()]) list?.replace(entry);
    } catch {
      // It is gone, or the server is: the row stays until the list is read anew, and opening it says why.
    }
  }

  #unfold(project: string): Promise<void> {
    const own = project === "" ? { folderless: true } : { project, exact: true };
    const list = rowList({ ...narrowing(this.filter), ...own }, PROJECT_PAGE, this.#changed);
    this.#opened.set(project, list);
    return list.start();
  }
}

function rowList(query: Query, size: number, changed: () => void): PagedList<Row> {
  return new PagedList<Row>({
    keyOf: rowKey,
    changed,
    size,
    async read(before, limit, signal) {
      const page = await read<RowPage>("/api/transcripts", { ...query, before, limit }, signal);
      return { rows: page.transcripts, next: page.next, total: page.total };
    },
  });
}

function projectList(query: Query, changed: () => void): PagedList<Project> {
  return new PagedList<Project>({
    keyOf: ({ project }) => project,
    changed,
    size: PAGE,
    async read(before, limit, signal) {
      const page = await read<ProjectPage>("/api/projects", { ...query, before, limit }, signal);
      return { rows: page.projects, next: page.next, total: page.total };
    },
  });
}
