import { path, Refused, read, transcriptPath } from "../api.ts";
import type { Off } from "../live/live.ts";
import { type Refetch, refetching } from "../parts/refetch.ts";
import type { App } from "../view.ts";
import type { AgentName, OwnSession, OwnSessionPage, SessionEntry, Subagent } from "../wire.ts";
import { readSubagents, transcriptSource } from "./source.ts";

/** What is told of a session. */
interface SessionTold {
  entry(entry: SessionEntry): void;
  failed(error: unknown): void;
  /** The session of ours that drives it; undefined when there is none. */
  own(own: OwnSession | undefined): void;
}

/** How often a session's facts are asked for at most, in ms. */
const REFRESH_MS = 1_500;
/** How often it is asked how a subagent stands at most, in ms. */
const CHILD_MS = 2_000;
/** How soon totals that are being counted are asked for again. */
const COUNTING_MS = 1_000;

/** Keeps what is said of a session up to date: its facts, and whether it can be driven from here. */
export class SessionWatch {
  readonly #agent: AgentName;
  readonly #id: string;
  readonly #told: SessionTold;
  readonly #entry: Refetch;
  readonly #own: Refetch;
  readonly #offs: readonly Off[];
  #child: Refetch | undefined;
  #counting: ReturnType<typeof setTimeout> | undefined;

  constructor(app: App, agent: AgentName, id: string, told: SessionTold) {
    this.#agent = agent;
    this.#id = id;
    this.#told = told;
    this.#entry = refetching((signal) => this.#readEntry(signal), { failed: told.failed, gap: REFRESH_MS });
    // Whether it can be driven is no part of what is read: where that can't be told, it is shown all the same.
    this.#own = refetching(async (signal) => {
      const own = await this.#findOwn(signal);
      if (!signal.aborted) told.own(own);
    });
    this.#offs = [
      app.live.on("transcripts", ({ ids }) => {
        if (ids === undefined || ids.includes(id)) this.#entry.ask();
        this.#child?.ask();
      }),
      app.live.on("sessions", () => this.#own.ask()),
    ];
    this.#entry.ask();
    this.#own.ask();
  }

  close(): void {
    clearTimeout(this.#counting);
    this.#entry.close();
    this.#own.close();
    this.#child?.close();
    for (const off of this.#offs) off();
  }

  /** Tells how the subagent `id` stands, now and whenever the session's list changes; no longer how another one does. */
  followChild(id: string, told: (child: Subagent) => void): void {
    this.#child?.close();
    this.#child = refetching(
      async (signal) => {
        const children = await readSubagents(transcriptSource(this.#agent, this.#id), signal);
        const child = children.find((each) => each.id === id);
        if (child !== undefined && !signal.aborted) told(child);
      },
      { gap: CHILD_MS },
    );
    this.#child.ask();
  }

  async #readEntry(signal: AbortSignal): Promise<void> {
    const entry = await read<SessionEntry>(transcriptPath(this.#agent, this.#id), {}, signal);
    if (signal.aborted) return;
    this.#told.entry(entry);
    if (entry.counting) this.#counting = setTimeout(() => this.#entry.ask(), COUNTING_MS);
  }

  /** Our session that is this one: by its id where this is its recording, else by the id that its agent's store gives it. */
  async #findOwn(signal: AbortSignal): Promise<OwnSession | undefined> {
    if (this.#agent === "daemon") {
      return read<OwnSession>(path("sessions", this.#id), {}, signal).catch((error: unknown) => {
        if (error instanceof Refused) return undefined;
        throw error;
      });
    }
    const { sessions } = await read<OwnSessionPage>(
      "/api/sessions",
      { state: "live", kind: "agent", limit: 500 },
      signal,
    );
    return sessions.find(({ nativeSessionId, agent }) => nativeSessionId === this.#id && agent === this.#agent);
  }
}
