import { readableLine } from "../../../transcript/printable.ts";
import type { Place } from "../places.ts";
import { AGENTS, type OwnSession, type Peer } from "../wire.ts";
import { agentName } from "./agent-name.ts";
import { isSame } from "./own-sessions.ts";

/** How a session stands, as far as somebody may want to be told. */
export type Standing = "busy" | "waiting" | "idle" | "ended" | "failed";

/** A session that is watched. */
export interface Watched {
  /** Which one, and for a question also which. */
  readonly key: string;
  readonly name: string;
  readonly place: Place | undefined;
  readonly standing: Standing;
  /** What it asks, or why it failed. */
  readonly about: string;
  /** Since when it stands so, as far as was seen. ms since the epoch */
  readonly since: number;
}

/** Something to tell. */
export interface Notice {
  /** The same for the same news in every tab. */
  readonly tag: string;
  readonly title: string;
  readonly text: string;
  readonly place: Place | undefined;
}

/** What `sessions`, ours, and `peers` say, as what is watched; `before` is what was seen last. */
export function watched(
  sessions: readonly OwnSession[],
  peers: readonly Peer[],
  before: ReadonlyMap<string, Watched>,
  now: number,
): Map<string, Watched> {
  const ours = sessions.filter(({ kind }) => kind === "agent").map(ofOurs);
  const all = [...ours, ...peers.filter((peer) => !sessions.some((own) => isSame(own, peer))).map(ofPeer)];
  return new Map(
    all.map((one) => {
      const last = before.get(one.key);
      const since = last?.standing === one.standing ? last.since : now;
      return [one.key, { ...one, since }];
    }),
  );
}

type Seen = Omit<Watched, "since">;

function ofOurs({ id, agent = "", name, status, permissions = [], error = "" }: OwnSession): Seen {
  const standing = OURS[status];
  const about = standing === "waiting" ? (permissions[0]?.title ?? "") : error;
  return { key: `own ${id}`, name: named(agent, name), place: { view: "agent", id }, standing, about };
}

const OURS: { readonly [status in OwnSession["status"]]: Standing } = {
  starting: "busy",
  busy: "busy",
  idle: "idle",
  "awaiting-input": "waiting",
  ended: "ended",
  failed: "failed",
  interrupted: "ended",
};

function ofPeer({ agent: text, sessionId, name, title, activity = "" }: Peer): Seen {
  const agent = AGENTS.find((each) => each === text);
  const place: Place | undefined =
    agent === undefined || sessionId === null ? undefined : { view: "session", agent, id: sessionId };
  const standing = THEIRS[activity] ?? "busy";
  return { key: `peer ${text} ${sessionId ?? name}`, name: named(text, title || name), place, standing, about: "" };
}

/** What the stores of other programs say that their sessions do. */
const THEIRS: { readonly [activity: string]: Standing } = {
  waiting: "waiting",
  blocked: "waiting",
  "awaiting-input": "waiting",
  idle: "idle",
  done: "idle",
};

function named(agent: string, name: string | undefined): string {
  const what = readableLine(name ?? "");
  return what === "" ? agentName(agent) : `${agentName(agent)} · ${what}`;
}

/** A turn that took less was waited for by who asked for it. ms */
const LONG_TURN_MS = 30_000;

/** What is new in `after`. Of sessions that are not there any more it is told that they ended. */
export function newsIn(before: ReadonlyMap<string, Watched>, after: ReadonlyMap<string, Watched>): Notice[] {
  const gone = [...before.values()].filter(({ key, standing }) => !after.has(key) && isLive(standing));
  return [
    ...[...after.values()].flatMap((one) => newsOf(before.get(one.key), one)),
    ...gone.flatMap((one) => newsOf(one, { ...one, standing: "ended", about: "" })),
  ];
}

function isLive(standing: Standing): boolean {
  return standing !== "ended" && standing !== "failed";
}

function newsOf(before: Watched | undefined, { key, name, standing, about, place, since }: Watched): Notice[] {
  const isNew = before?.standing !== standing || (standing === "waiting" && before.about !== about);
  // Of what had ended when it was first seen, nobody waits to hear.
  if (!isNew || (before === undefined && standing !== "waiting")) return [];
  const words = wordsFor(standing, since - (before?.since ?? since), before?.standing);
  if (words === undefined) return [];
  const text = [words, readableLine(about)].filter(Boolean).join(": ");
  return [{ tag: `${key} ${standing} ${about}`, title: name, text, place }];
}

function wordsFor(standing: Standing, took: number, before: Standing | undefined): string | undefined {
  switch (standing) {
    case "waiting":
      return "Waits for your answer";
    case "failed":
      return "Failed";
    case "ended":
      return "Ended";
    case "idle":
      return before === "busy" && took >= LONG_TURN_MS ? "Is done, and waits for what comes next" : undefined;
    case "busy":
      return undefined;
  }
}

/** The sessions that wait for an answer. */
export function waitingIn(all: ReadonlyMap<string, Watched>): Watched[] {
  return [...all.values()].filter(({ standing }) => standing === "waiting");
}

/** How many notices a minute are not too many. */
const MOST_A_MINUTE = 4;

/** Lets through a few notices a minute. */
export class FewNotices {
  #times: readonly number[] = [];

  /** As many of `notices` as may be shown at `now`. */
  pass(notices: readonly Notice[], now: number): readonly Notice[] {
    this.#times = this.#times.filter((time) => now - time < 60_000);
    const passed = notices.slice(0, MOST_A_MINUTE - this.#times.length);
    this.#times = [...this.#times, ...passed.map(() => now)];
    return passed;
  }
}
