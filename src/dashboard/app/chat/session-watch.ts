import { path, Refused, read, transcriptPath } from "../api.ts";
import type { Off } from "../live/live.ts";
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
/** How soon totals that are being counted are asked for again. */
const COUNTING_MS = 1_000;

/** Keeps what is said of a session up to date: its facts, and whether it can be driven from here. */
export class SessionWatch {
  readonly #agent: AgentName;
  readonly #id: string;
  readonly #told: SessionTold;
  readonly #offs: readonly Off[];
  #entryTimer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(app: App, agent: AgentName, id: string, told: SessionTold) {
    this.#agent = agent;
    this.#id = id;
    this.#told = told;
    this.#offs = [
      app.live.on("transcripts", ({ ids }) => {
        if (ids === undefined || ids.includes(id)) this.#entrySoon(REFRESH_MS);
      }),
      app.live.on("sessions", () => void this.#own()),
    ];
    void this.#entry();
    void this.#own();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#entryTimer);
    for (const off of this.#offs) off();
  }

  /** The subagent `id` of this session. */
  async child(id: string): Promise<Subagent | undefined> {
    const children = await readSubagents(transcriptSource(this.#agent, this.#id)).catch(() => []);
    return children.find((child) => child.id === id);
  }

  #entrySoon(after: number): void {
    this.#entryTimer ??= setTimeout(() => void this.#entry(), after);
  }

  async #entry(): Promise<void> {
    try {
      const entry = await read<SessionEntry>(transcriptPath(this.#agent, this.#id));
      this.#entryTimer = undefined;
      if (this.#closed) return;
      this.#told.entry(entry);
      if (entry.counting && document.visibilityState === "visible") this.#entrySoon(COUNTING_MS);
    } catch (error) {
      this.#entryTimer = undefined;
      if (!this.#closed) this.#told.failed(error);
    }
  }

  /** Our session that is this one: by its id where this is its recording, else by the id that its agent's store gives it. */
  async #own(): Promise<void> {
    const own = await this.#findOwn().catch(() => undefined);
    if (!this.#closed) this.#told.own(own);
  }

  async #findOwn(): Promise<OwnSession | undefined> {
    if (this.#agent === "daemon") {
      return read<OwnSession>(path("sessions", this.#id)).catch((error: unknown) => {
        if (error instanceof Refused) return undefined;
        throw error;
      });
    }
    const { sessions } = await read<OwnSessionPage>("/api/sessions", { state: "live", kind: "agent", limit: 500 });
    return sessions.find(({ nativeSessionId, agent }) => nativeSessionId === this.#id && agent === this.#agent);
  }
}
