import { path, transcriptPath } from "../api.ts";
import { folderName } from "../parts/folders.ts";
import { isLive, isSame, standsAs } from "../parts/own-sessions.ts";
import { type LiveStatus, liveStatus, standing, statusWord } from "../parts/standing.ts";
import type { Place } from "../places.ts";
import { AGENTS, type AgentName, type OwnSession, type Peer, type Question, type Run, type State } from "../wire.ts";

/** Something that goes on now: a session, a run, or both in one. */
export interface NowRow {
  readonly key: string;
  /** An agent, `command` or `terminal`; "" when it is not known. */
  readonly agent: string;
  readonly title: string;
  readonly status: LiveStatus;
  /** The status as people say it. */
  readonly word: string;
  /** Since when it goes on: ms since the epoch. */
  readonly since: number;
  readonly cwd: string;
  readonly model?: string;
  /** Where it can be seen; absent for a session that nothing can be read of. */
  readonly place?: Place;
  /** What waits for an answer. */
  readonly question?: Question;
  /** The last line of its log. */
  readonly last?: string;
  /** Where its chat is, and the ids by which the list of sessions names it. */
  readonly chat?: { readonly path: string; readonly ids: readonly string[] };
}

/** What goes on, each thing once: what waits for an answer first, then what works, then what is idle. */
export function nowRows(state: Pick<State, "peers" | "runs" | "running">, own: readonly OwnSession[]): NowRow[] {
  const live = own.filter(isLive);
  const runs = [...state.running, ...state.runs.filter(({ status }) => status === "running")];
  const taken = new Set<string>();
  const runOf = (...ids: readonly (string | null | undefined)[]): Run | undefined => {
    const run = runs.find((each) => !taken.has(each.name) && isOf(each, ids));
    if (run !== undefined) taken.add(run.name);
    return run;
  };
  const rows = [
    ...live.map((session) => {
      const peer = state.peers.find((each) => isSame(session, each));
      return ownRow(session, peer, runOf(session.id, session.name, session.nativeSessionId));
    }),
    ...state.peers
      .filter((peer) => !live.some((session) => isSame(session, peer)))
      .map((peer) => peerRow(peer, runOf(peer.sessionId))),
  ];
  const others = runs.filter(({ name }) => !taken.has(name)).map(runRow);
  const each = new Map([...rows, ...others].map((row) => [row.key, row]));
  return [...each.values()].sort((a, b) => RANKS[a.status] - RANKS[b.status] || b.since - a.since);
}

const RANKS: { readonly [S in LiveStatus]: number } = {
  "awaiting-input": 0,
  busy: 1,
  running: 1,
  starting: 1,
  live: 2,
  idle: 3,
};

function isOf(run: Run, ids: readonly (string | null | undefined)[]): boolean {
  return ids.some((id) => typeof id === "string" && (id === run.session || id === run.sessionId));
}

function ownRow(session: OwnSession, peer: Peer | undefined, run: Run | undefined): NowRow {
  const { id, kind, name, argv = [], cwd, startedAt, nativeSessionId, permissions = [] } = session;
  const [question] = permissions;
  const status = question === undefined ? liveStatus(standsAs(session)) : "awaiting-input";
  const model = session.model ?? run?.model;
  const isAgent = kind === "agent";
  return {
    key: `own ${id}`,
    agent: isAgent ? (session.agent ?? "") : kind,
    title: (isAgent ? peer?.title : undefined) || run?.title || name || argv.join(" ") || folderName(cwd),
    status,
    word: statusWord(status),
    since: startedAt,
    cwd,
    place: { view: "agent", id },
    ...(model && { model }),
    ...(question && { question }),
    ...(run?.last && { last: run.last }),
    ...(isAgent && {
      chat: { path: path("sessions", id), ids: [id, ...(nativeSessionId === undefined ? [] : [nativeSessionId])] },
    }),
  };
}

function peerRow({ name, agent, sessionId, cwd, startedAt, activity, title }: Peer, run: Run | undefined): NowRow {
  const { status, word } = standing(activity);
  const known = AGENTS.find((each): each is AgentName => each === agent);
  const isKnown = known !== undefined && sessionId !== null;
  return {
    key: `peer ${name}`,
    agent,
    title: title || run?.title || name || folderName(cwd),
    status,
    word,
    since: startedAt,
    cwd,
    ...(run?.model && { model: run.model }),
    ...(run?.last && { last: run.last }),
    ...(isKnown && { place: { view: "session", agent: known, id: sessionId } }),
    // One without a title has said nothing yet: there may be no chat to ask for.
    ...(isKnown && title && { chat: { path: transcriptPath(known, sessionId), ids: [sessionId] } }),
  };
}

function runRow({ name, agent, title, task, startedAt, workdir, model, last }: Run): NowRow {
  return {
    key: `run ${name}`,
    agent: agent ?? "",
    title: title || task || name,
    status: "running",
    word: "running",
    since: startedAt,
    cwd: workdir ?? "",
    place: { view: "run", name },
    ...(model && { model }),
    ...(last && { last }),
  };
}
