import type { Refused } from "../api.ts";

/** Who hears what comes on a stream of server-sent events. */
export interface StreamListener {
  /** An event, its data read as JSON. */
  event(name: string, data: unknown): void;
  /** It ended or never came to be, and tells nothing more; `refusal` is what the server said instead. */
  ended(refusal?: Refused): void;
}

/** What the hub has of the world around it. */
export interface HubTools {
  /** Opens a stream; what it gives ends it, and then nothing more is told. */
  open(url: string, listener: StreamListener): () => void;
  /** Asks the API. @throws Refused, Unreachable */
  read(url: string): Promise<unknown>;
  /** Does `run` in `ms` milliseconds, unless what it gives is called before. */
  after(ms: number, run: () => void): () => void;
  /** A number from 0 up to 1. */
  random(): number;
}
