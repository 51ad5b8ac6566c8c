import type { SessionRow } from "./sessions.ts";

/** A conversation as compression split it: its sessions, the first first. Its id is that of the last. */
export interface Conversation {
  readonly sessions: readonly SessionRow[];
  readonly newest: SessionRow;
  /** The conversation that started this one as a subagent, by the id of the session that did. */
  readonly delegatedBy: string | undefined;
}

/** The sessions of a database by the conversations that they are. */
export interface Conversations {
  readonly all: readonly Conversation[];
  /** The conversation that a session's id leads to: the one that it goes on in. */
  of(id: string): Conversation | undefined;
  /** Those that sessions of `conversation` started as subagents, the newest first. */
  delegatedBy(conversation: Conversation): readonly Conversation[];
}

/**
 * Joins what compression split: a session whose parent ended with `compression` goes on with it, unless it is a branch, a
 * reset or a subagent of that parent. Where several go on with one session, its id stands for the one started last.
 */
export function conversationsOf(rows: readonly SessionRow[]): Conversations {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const next = new Map<string, SessionRow>();
  for (const row of rows) {
    const base = baseOf(row, byId);
    if (base === undefined) continue;
    const other = next.get(base.id);
    if (other === undefined || isLater(row, other)) next.set(base.id, row);
  }
  const tips = new Map<string, Conversation>();
  for (const row of rows) if (!next.has(row.id)) tips.set(row.id, conversationTo(row, byId));
  // A ring of sessions that go on with each other has no last one: each stands for itself, so that none is lost.
  const told = new Set([...tips.values()].flatMap(({ sessions }) => sessions));
  for (const row of rows) {
    if (!told.has(row)) tips.set(row.id, { sessions: [row], newest: row, delegatedBy: row.delegatedBy });
  }
  const all = [...tips.values()];
  const children = new Map<string, Conversation[]>();
  for (const conversation of all) {
    if (conversation.delegatedBy === undefined) continue;
    children.set(conversation.delegatedBy, [...(children.get(conversation.delegatedBy) ?? []), conversation]);
  }
  return {
    all,
    of: (id) => tips.get(tipOf(id, next)),
    delegatedBy: ({ sessions }) =>
      sessions
        .flatMap(({ id }) => children.get(id) ?? [])
        .sort((a, b) => firstOf(b).startedAt - firstOf(a).startedAt || (a.newest.id < b.newest.id ? 1 : -1)),
  };
}

/** The session with which a conversation began. */
export function firstOf({ sessions, newest }: Conversation): SessionRow {
  return sessions[0] ?? newest;
}

/** The session that `row` goes on with. */
function baseOf(row: SessionRow, byId: ReadonlyMap<string, SessionRow>): SessionRow | undefined {
  if (row.parent === undefined || row.parent === row.id || row.setApart || row.delegatedBy === row.parent) {
    return undefined;
  }
  const parent = byId.get(row.parent);
  return parent?.endReason === "compression" ? parent : undefined;
}

/** The conversation that ends with `row`. A ring of parents, which no CLI makes, ends where it closes. */
function conversationTo(row: SessionRow, byId: ReadonlyMap<string, SessionRow>): Conversation {
  const sessions = new Set([row]);
  for (let base = baseOf(row, byId); base !== undefined && !sessions.has(base); base = baseOf(base, byId)) {
    sessions.add(base);
  }
  const ordered = [...sessions].reverse();
  const own = ordered.find(({ delegatedBy }) => delegatedBy !== undefined)?.delegatedBy;
  const inside = ordered.some(({ id }) => id === own);
  return { sessions: ordered, newest: row, delegatedBy: inside ? undefined : own };
}

/** The last session of those that go on with `id`; in a ring there is none, and `id` stands for itself. */
function tipOf(id: string, next: ReadonlyMap<string, SessionRow>): string {
  const seen = new Set([id]);
  let tip = id;
  for (let row = next.get(tip); row !== undefined; row = next.get(tip)) {
    if (seen.has(row.id)) return id;
    tip = row.id;
    seen.add(tip);
  }
  return tip;
}

function isLater(a: SessionRow, b: SessionRow): boolean {
  return a.startedAt > b.startedAt || (a.startedAt === b.startedAt && a.id > b.id);
}
