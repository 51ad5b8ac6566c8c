import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "../../src/transcript/item.ts";
import type { WrittenSession } from "../history.ts";
import { chatPath, markedRecord } from "./chat.ts";
import type { Running } from "./child.ts";
import { NotMeasurable } from "./measure.ts";

const GIVE_UP_MS = 10_000;

/** A client of a stream that can wait for a text to come. */
class Listener {
  readonly #response: IncomingMessage;
  #rest = "";
  #mark: string | undefined;
  #arrived: () => void = () => {};

  constructor(response: IncomingMessage) {
    this.#response = response;
    response.setEncoding("utf8");
    response.on("error", () => {});
    response.on("data", (text: string) => this.#take(text));
  }

  /** Resolves when `mark` has come; called before it is written. @throws NotMeasurable after 10 s */
  arrival(mark: string): Promise<void> {
    this.#mark = mark;
    return new Promise((resolve, reject) => {
      const giveUp = () => reject(new NotMeasurable(`an appended record did not arrive within ${GIVE_UP_MS / 1000} s`));
      const timer = setTimeout(giveUp, GIVE_UP_MS);
      this.#arrived = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  close(): void {
    this.#response.destroy();
  }

  #take(text: string): void {
    if (this.#mark === undefined) return;
    const held = this.#rest + text;
    this.#rest = held.slice(-this.#mark.length);
    if (!held.includes(this.#mark)) return;
    this.#mark = undefined;
    this.#arrived();
  }
}

/** Streams of one chat, and the file that feeds them. */
export class Streams {
  readonly #session: WrittenSession;
  readonly #listeners: readonly Listener[];

  private constructor(session: WrittenSession, listeners: readonly Listener[]) {
    this.#session = session;
    this.#listeners = listeners;
  }

  /** `count` clients of the product's stream of `session`, from its end on. */
  static async ofProduct(server: Running, session: WrittenSession, count: number): Promise<Streams> {
    const path = chatPath(session);
    const { next } = await server.client.json<Page>(`${path}?from=tail`);
    return Streams.#open(server, `${path}/stream?from=${encodeURIComponent(next)}`, session, count);
  }

  /** `count` clients of the bare server's stream of `session`. */
  static ofBare(server: Running, session: WrittenSession, count: number): Promise<Streams> {
    return Streams.#open(server, `/stream?file=${encodeURIComponent(session.file)}`, session, count);
  }

  static async #open(server: Running, path: string, session: WrittenSession, count: number): Promise<Streams> {
    const listeners: Listener[] = [];
    for (let i = 0; i < count; i++) listeners.push(new Listener(await server.client.stream(path)));
    await sleep(100);
    return new Streams(session, listeners);
  }

  /** Appends a record; ms until the last client has it. */
  async append(): Promise<number> {
    const mark = `mark-${randomUUID()}`;
    const all = Promise.all(this.#listeners.map((listener) => listener.arrival(mark)));
    const record = markedRecord(this.#session, mark);
    const start = performance.now();
    appendFileSync(this.#session.file, record);
    await all;
    return performance.now() - start;
  }

  close(): void {
    for (const listener of this.#listeners) listener.close();
  }
}

/** `count` appends to each of both, in turn and with a varying pause between: ms each. */
export async function appendInTurn(
  ours: Streams,
  bare: Streams,
  count: number,
): Promise<{ ours: number[]; bare: number[] }> {
  const times = { ours: [] as number[], bare: [] as number[] };
  for (let i = 0; i < count; i++) {
    times.bare.push(await bare.append());
    await sleep(5 + ((i * 7) % 30));
    times.ours.push(await ours.append());
    await sleep(5 + ((i * 11) % 30));
  }
  return times;
}
