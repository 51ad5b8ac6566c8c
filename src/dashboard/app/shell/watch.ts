import { path, Refused, read } from "../api.ts";
import type { Live } from "../live/live.ts";
import { type Notice, newsIn, type Watched, watched } from "../parts/notices.ts";
import { liveSessions } from "../parts/own-sessions.ts";
import { refetching } from "../parts/refetch.ts";
import type { OwnSession, State } from "../wire.ts";

/** Looks at what the live sessions do, whenever the server says that it may have changed. */
export class Watch {
  /** What was seen last. */
  seen: ReadonlyMap<string, Watched> = new Map();
  readonly #told: (news: readonly Notice[]) => void;
  readonly #withPeers: () => boolean;
  // The bar tells of a server that is gone, and when it is back, it says that anything may have changed.
  readonly #refetch = refetching(() => this.#lookOnce(), { whileHidden: true });
  #hasLooked = false;

  /** `told` hears after each look what is new. Sessions of other programs are looked at while `withPeers` wants them. */
  constructor(live: Live, withPeers: () => boolean, told: (news: readonly Notice[]) => void) {
    this.#told = told;
    this.#withPeers = withPeers;
    live.on("sessions", () => this.look());
    live.on("peers", () => withPeers() && this.look());
  }

  /** Looks soon. */
  look(): void {
    this.#refetch.ask();
  }

  async #lookOnce(): Promise<void> {
    const [live, peers] = await Promise.all([liveSessions(), this.#withPeers() ? peersNow() : []]);
    const sessions = [...live, ...(await ended(this.seen, live))];
    const after = watched(sessions, peers, this.seen, Date.now());
    const news = this.#hasLooked ? newsIn(this.seen, after) : [];
    this.#hasLooked = true;
    this.seen = after;
    this.#told(news);
  }
}

async function peersNow(): Promise<State["peers"]> {
  return (await read<State>("/api/state")).peers;
}

/** Those that were live when they were seen last, and are not any more: how they ended. */
async function ended(seen: ReadonlyMap<string, Watched>, live: readonly OwnSession[]): Promise<OwnSession[]> {
  const ids = [...seen.values()].flatMap(({ place, standing }) =>
    place?.view === "agent" && standing !== "ended" && standing !== "failed" ? [place.id] : [],
  );
  const gone = ids.filter((id) => !live.some((one) => one.id === id));
  return (await Promise.all(gone.map(one))).flat();
}

async function one(id: string): Promise<OwnSession[]> {
  try {
    return [await read<OwnSession>(path("sessions", id))];
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return [];
    throw error;
  }
}
