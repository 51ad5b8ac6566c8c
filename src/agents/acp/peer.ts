import { setImmediate as turnOfOthers } from "node:timers/promises";
import { Failure } from "../../platform/failure.ts";
import type { JsonObject } from "../../platform/read.ts";
import { agentErrorOf } from "./agent-error.ts";
import type { AcpStreams } from "./connection.ts";
import { Lines } from "./lines.ts";
import { type Message, messagesOf, type RequestId } from "./message.ts";
import { CODES, Refusal } from "./refusal.ts";

/** What the peer's other side is told and asked. */
export interface PeerHandlers {
  /** The agent is not read on before it comes back. `weight`: how many characters the line has. */
  notified(method: string, params: JsonObject, weight: number): void | Promise<void>;
  /**
   * Takes a request, and comes back with what will be its answer. The agent is not read on before it has come back; the
   * answer itself may come at any later time. @throws Refusal, also through the answer
   */
  asked(method: string, params: JsonObject, id: RequestId, weight: number): Promise<Answer>;
  passedOver(what: string): void;
}

/** What a request is answered with, when that is known. `waits`: for a person, so that it may take long. */
export interface Answer {
  readonly result: Promise<unknown>;
  readonly waits?: true;
}

/** So many requests of the agent are served at a time; while there are more, it is not read on. */
const MOST_SERVED = 16;

type RequestMessage = Extract<Message, { kind: "request" }>;

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (why: unknown) => void;
}

/** JSON-RPC with an agent, both ways. */
export class Peer {
  /** When nothing more comes from the agent, or this was closed. Never fails. */
  readonly closed: Promise<void>;
  readonly #streams: AcpStreams;
  readonly #handlers: PeerHandlers;
  readonly #waiting = new Map<number, Waiting>();
  readonly #served = new Set<Promise<void>>();
  #lastId = 0;
  #over: Failure | undefined;
  #resolveClosed: () => void = () => {};

  constructor(streams: AcpStreams, handlers: PeerHandlers) {
    this.#streams = streams;
    this.#handlers = handlers;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    this.#read().then(
      () => this.close(new Failure("failed", "the agent has ended")),
      (error) => this.close(error instanceof Failure ? error : unreadable(error)),
    );
  }

  /** What the agent answers. @throws AgentError: it answers with an error · Failure failed: it is gone */
  request(method: string, params: object): Promise<unknown> {
    if (this.#over !== undefined) return Promise.reject(this.#over);
    const id = ++this.#lastId;
    const answer = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#send({ id, method, params });
    return answer;
  }

  /** Tells the agent something; nothing when it is gone. */
  notify(method: string, params: object): void {
    if (this.#over === undefined) this.#send({ method, params });
  }

  /** Whoever waits for the agent fails with `why`. What the agent still sends is read, so that it can end, and thrown away. */
  close(why: Failure): void {
    if (this.#over !== undefined) return;
    this.#over = why;
    for (const { reject } of this.#waiting.values()) reject(why);
    this.#waiting.clear();
    this.#resolveClosed();
  }

  #send(message: object): Promise<void> {
    return this.#streams.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  async #read(): Promise<void> {
    const lines = new Lines(() => this.#handlers.passedOver("a line over 32 MiB"));
    for await (const chunk of this.#streams.input) {
      if (this.#over !== undefined) continue;
      for (const line of lines.take(chunk)) {
        const taken = this.#takeLine(line);
        // Waiting for nothing costs more than most lines do.
        if (taken !== undefined) await taken;
      }
    }
    // An agent that dies in the middle of a line leaves what is no JSON; one that forgot the newline does not.
    const rest = lines.rest();
    if (rest !== undefined) await this.#takeLine(rest);
  }

  #takeLine(line: string): void | Promise<void> {
    const messages = messagesOf(line);
    const [only] = messages;
    if (messages.length > 1) return this.#takeBatch(messages, line.length);
    if (only !== undefined && this.#over === undefined) return this.#take(only, line.length);
  }

  async #takeBatch(messages: readonly Message[], weight: number): Promise<void> {
    for (const message of messages) if (this.#over === undefined) await this.#take(message, weight);
  }

  /** Whoever waits for an answer goes on with it before the agent is read on: what stands behind it came later. */
  #take(message: Message, weight: number): void | Promise<void> {
    switch (message.kind) {
      case "notification":
        return this.#handlers.notified(message.method, message.params, weight);
      case "request":
        return this.#serve(message, weight);
      case "answer":
        this.#waitingFor(message.id)?.resolve(message.result);
        return turnOfOthers();
      case "refusal":
        this.#waitingFor(message.id)?.reject(agentErrorOf(message.error));
        return turnOfOthers();
      case "nothing":
        return this.#handlers.passedOver(message.why);
    }
  }

  /** Who waits for the answer `id`, once. Some agents give a number back as text. */
  #waitingFor(id: unknown): Waiting | undefined {
    const number = typeof id === "string" && /^\d{1,15}$/.test(id) ? Number(id) : id;
    const waiting = typeof number === "number" ? this.#waiting.get(number) : undefined;
    if (waiting === undefined) this.#handlers.passedOver("an answer to no question");
    else this.#waiting.delete(number as number);
    return waiting;
  }

  async #serve({ id, method, params }: RequestMessage, weight: number): Promise<void> {
    let answer: Answer;
    try {
      answer = await this.#handlers.asked(method, params, id, weight);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      answer = { result: Promise.reject(error) };
    }
    const served = this.#answer(id, answer.result);
    if (answer.waits === true) return;
    this.#served.add(served);
    served.finally(() => this.#served.delete(served));
    while (this.#served.size >= MOST_SERVED) await Promise.race(this.#served);
  }

  async #answer(id: RequestId, answer: Promise<unknown>): Promise<void> {
    const message = await answer.then(
      (result) => ({ id, result }),
      (error) => ({ id, error: this.#refusalOf(error) }),
    );
    if (this.#over === undefined) await this.#send(message);
  }

  #refusalOf(error: unknown): { code: number; message: string } {
    if (error instanceof Refusal) return { code: error.code, message: error.message };
    this.#handlers.passedOver("a request that could not be answered");
    return { code: CODES.internal, message: "Internal error" };
  }
}

function unreadable(error: unknown): Failure {
  return new Failure("failed", "what the agent sent could not be taken", error);
}
