import type { Project, Row } from "../wire.ts";

/** One line of the list. `place` (from 1) and `of` say which of how many it is among its like. */
export type Line =
  | {
      readonly kind: "session";
      readonly key: string;
      readonly row: Row;
      readonly place: number;
      readonly of: number;
      /** The day that begins here. */
      readonly day?: string;
      /** The project under which it stands. */
      readonly project?: string;
    }
  | {
      readonly kind: "project";
      readonly key: string;
      readonly project: Project;
      readonly open: boolean;
      readonly place: number;
      readonly of: number;
    }
  /** Stands behind the sessions of an open project: what is missing, on its way, or could not be had. */
  | {
      readonly kind: "rest";
      readonly key: string;
      readonly project: string;
      readonly left: number;
      readonly loading: boolean;
      readonly error?: unknown;
    };

/** The sessions of an open project, as far as they were read. */
export interface Opened {
  readonly rows: readonly Row[];
  readonly total: number;
  readonly loading: boolean;
  readonly hasMore: boolean;
  readonly trouble?: { readonly error: unknown } | undefined;
}

/** Tells a session from all others. */
export function rowKey({ agent, id }: Pick<Row, "agent" | "id">): string {
  return `${agent}/${id}`;
}

/** Tells a project's line from all others. */
export function projectKey(project: string): string {
  return `project:${project}`;
}

/** Sessions by day, which `dayOf` names; `total` is how many there are, also those that were not read. */
export function dayLines(rows: readonly Row[], total: number, dayOf: (at: number) => string): readonly Line[] {
  let last = "";
  return rows.map((row, at) => {
    const day = dayOf(row.updatedAt);
    const begins = day !== last;
    last = day;
    const line = { kind: "session", key: rowKey(row), row, place: at + 1, of: Math.max(total, rows.length) } as const;
    return begins ? { ...line, day } : line;
  });
}

/** Projects, and below those that are open their sessions. */
export function projectLines(
  projects: readonly Project[],
  total: number,
  opened: ReadonlyMap<string, Opened>,
): readonly Line[] {
  return projects.flatMap((project, at): Line[] => {
    const key = projectKey(project.project);
    const sessions = opened.get(project.project);
    const heading: Line = { kind: "project", key, project, open: sessions !== undefined, place: at + 1, of: total };
    return sessions === undefined ? [heading] : [heading, ...within(project, sessions)];
  });
}

function within({ project }: Project, { rows, total, loading, hasMore, trouble }: Opened): Line[] {
  const of = Math.max(total, rows.length);
  // A session can't stand in two projects, but it may have moved from one to the other between two answers.
  const lines = rows.map((row, at): Line => {
    const key = `${projectKey(project)}:${rowKey(row)}`;
    return { kind: "session", key, row, place: at + 1, of, project };
  });
  if (!hasMore && !loading && trouble === undefined) return lines;
  const left = Math.max(of - rows.length, 0);
  const rest = { kind: "rest", key: `${projectKey(project)}:rest`, project, left, loading } as const;
  return [...lines, trouble === undefined ? rest : { ...rest, error: trouble.error }];
}

/** What the line shows, as a text that is another one whenever that is. */
export function versionOf(line: Line): string {
  return JSON.stringify(line, (_, value) => (value instanceof Error ? String(value) : value));
}
