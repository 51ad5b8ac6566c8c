import type { IncomingMessage } from "node:http";
import { type Api, events, open } from "../built/product.ts";
import { type Happening, happening, soon } from "./waiting.ts";

/** A client of `/api/events` that waits for sessions to be told. */
export class ListFollower {
  readonly #response: IncomingMessage;
  readonly #told = new Map<string, Happening>();
  readonly #over: Promise<void>;

  static async start(api: Api): Promise<ListFollower> {
    return new ListFollower(await open(api, "/api/events"));
  }

  private constructor(response: IncomingMessage) {
    this.#response = response;
    this.#over = this.#read();
  }

  /** Comes back when a change of the session was told. */
  until(id: string): Promise<void> {
    return soon(`a change of ${id} is told`, this.#of(id).happened, () => [...this.#told.keys()]);
  }

  async close(): Promise<void> {
    this.#response.destroy();
    await this.#over;
  }

  #of(id: string): Happening {
    const told = this.#told.get(id) ?? happening();
    this.#told.set(id, told);
    return told;
  }

  async #read(): Promise<void> {
    try {
      for await (const { event, data } of events(this.#response)) {
        if (event !== "transcripts") continue;
        for (const id of JSON.parse(data).ids) this.#of(id).happen();
      }
    } catch {
      // It was closed.
    }
  }
}
