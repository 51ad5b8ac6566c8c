import { Lines } from "../agents/acp/lines.ts";
import { Failure } from "../platform/failure.ts";
import { Places } from "../platform/places.ts";
import { aborted, within } from "../platform/timer.ts";
import type { Host } from "./host.ts";
import { type Method, methodsOf } from "./methods.ts";
import { Outbox } from "./outbox.ts";
import { type Handshake, WITH_BATCHES } from "./revisions.ts";
import { CODES, idOf, type Message, type RequestId, RpcError, readLine } from "./rpc.ts";
import type { Tool } from "./tool.ts";

/** Where messages come from and go to, one a line. */
export interface Wire {
  /** What comes in, cut anywhere, until its end or the signal. */
  input(signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Sends a line, or a part of it; comes back when that is taken. @throws when nobody reads any more: then the server ends */
  send(piece: Uint8Array): Promise<void>;
}

/** Bytes of a message that is taken. */
const MOST_BYTES = 8 * 1024 * 1024;
/** Requests that are worked on at once; one holds its place until its answer is taken. */
const MOST_AT_WORK = 32;
/** Requests that wait for their turn; more are refused. */
const MOST_WAITING = 256;
/** Messages in one batch, whose answers are held until all are known. */
const MOST_IN_BATCH = 64;
/** After the end of the input an answer of which nothing is taken is left after one to two of these: ms. */
const STALL_MS = 2_000;
/** What can't be left at once is waited for so long when the server is to end: ms. */
const LEAVING_MS = 500;

/**
 * Answers what comes over `wire` until its end, and then what is still being asked, as long as somebody takes answers; or
 * until the signal, whether somebody does or not.
 * @throws Failure failed: nobody takes the answers · what sending throws
 */
export async function serveMcp(wire: Wire, tools: readonly Tool[], host: Host, signal: AbortSignal): Promise<void> {
  await new McpServer(wire, tools, host, signal).run();
}

class McpServer {
  readonly #wire: Wire;
  readonly #outbox: Outbox;
  readonly #host: Host;
  readonly #methods: { readonly [name: string]: Method };
  /** The signal, or nothing can be sent any more. */
  readonly #end: AbortSignal;
  readonly #broken = new AbortController();
  readonly #inputOver = new AbortController();
  /** What is asked and not answered. */
  readonly #open = new Map<RequestId, AbortController>();
  readonly #places = new Places(MOST_AT_WORK, MOST_WAITING);
  readonly #work = new Set<Promise<void>>();
  #revision: Handshake | undefined;

  constructor(wire: Wire, tools: readonly Tool[], host: Host, signal: AbortSignal) {
    this.#wire = wire;
    this.#host = host;
    this.#methods = methodsOf(tools);
    this.#end = AbortSignal.any([signal, this.#broken.signal]);
    this.#outbox = new Outbox((piece) => wire.send(piece), this.#end);
  }

  async run(): Promise<void> {
    const tooLong = new RpcError(CODES.parse, "this message is over 8 MiB: send less at once");
    const lines = new Lines(() => this.#start(this.#refuse(null, tooLong)), MOST_BYTES);
    for await (const chunk of this.#wire.input(this.#end)) {
      for (const line of lines.take(chunk)) this.#take(line);
    }
    const rest = lines.rest();
    if (rest !== undefined) this.#take(rest);
    this.#inputOver.abort();
    await this.#finish();
    if (this.#broken.signal.aborted) throw this.#broken.signal.reason;
  }

  /** Comes back when all work is done, or at the end. */
  async #finish(): Promise<void> {
    const all = (async () => {
      while (this.#work.size > 0) await Promise.all(this.#work);
    })();
    const stop = this.#watchStalling();
    await Promise.race([all, aborted(this.#end)]);
    stop();
    if (this.#end.aborted) await within(this.#host.timer, LEAVING_MS, all);
  }

  /** Ends it when of an answer nothing more is taken: nobody may ever do, and nobody is left who asks it to end. */
  #watchStalling(): () => void {
    let stop = (): void => {};
    const lookAfter = (before: Uint8Array | undefined): void => {
      stop = this.#host.timer.after(STALL_MS, () => {
        const { waiting } = this.#outbox;
        if (waiting === undefined || waiting !== before) return lookAfter(waiting);
        this.#broken.abort(new Failure("failed", "nobody takes the answers: read stdout until its end"));
      });
    };
    lookAfter(this.#outbox.waiting);
    return () => stop();
  }

  #take(line: string): void {
    if (line.trim() === "" || this.#end.aborted) return;
    const read = readLine(line);
    this.#start("kind" in read ? this.#one(read, (answer) => this.#send(answer)) : this.#batch(read));
  }

  /** Work that the end waits for. It must not fail. */
  #start(work: Promise<void>): void {
    this.#work.add(work);
    void work.finally(() => this.#work.delete(work));
  }

  async #batch(messages: readonly Message[]): Promise<void> {
    const problem =
      this.#revision !== WITH_BATCHES
        ? `only revision ${WITH_BATCHES} has batches: send one message a line`
        : messages.length > MOST_IN_BATCH
          ? `a batch may hold ${MOST_IN_BATCH} messages: send fewer at once`
          : undefined;
    if (problem !== undefined) return this.#refuse(null, new RpcError(CODES.invalidRequest, problem));
    const answers: object[] = [];
    const keep = async (answer: object): Promise<void> => void answers.push(answer);
    await Promise.all(messages.map((message) => this.#one(message, keep)));
    if (answers.length > 0) await this.#send(answers);
  }

  /** Deals with one message; what is answered goes to `reply`. */
  async #one(message: Message, reply: (answer: object) => Promise<void>): Promise<void> {
    switch (message.kind) {
      case "answer":
        return;
      case "notification":
        return this.#cancel(message.method, message.params.requestId);
      case "nothing":
        return reply(refusal(message.id, message.error));
      case "request": {
        const busy = this.#open.has(message.id)
          ? new RpcError(CODES.invalidRequest, "a request with this id is still being answered")
          : this.#places.isFull
            ? new RpcError(CODES.busy, "too many requests at once: wait for answers before asking more")
            : undefined;
        return busy === undefined ? this.#serve(message, reply) : reply(refusal(message.id, busy));
      }
    }
  }

  #cancel(method: string, requestId: unknown): void {
    const id = idOf(requestId);
    if (method === "notifications/cancelled" && id !== null) this.#open.get(id)?.abort();
  }

  /** One that is cancelled gets no answer. */
  async #serve(
    request: Extract<Message, { kind: "request" }>,
    reply: (answer: object) => Promise<void>,
  ): Promise<void> {
    const open = new AbortController();
    // What begins a session can't be cancelled: its answer is what all others rest on.
    if (request.method !== "initialize") this.#open.set(request.id, open);
    const signal = AbortSignal.any([open.signal, this.#end]);
    // Who is cancelled while waiting is done with at once.
    const leave = await this.#places.take(signal).catch(() => undefined);
    try {
      const answer = signal.aborted ? undefined : await this.#answer(request, signal);
      // Whoever has the answer may use its id again.
      this.#open.delete(request.id);
      if (answer !== undefined && !signal.aborted) await reply(answer);
    } finally {
      leave?.();
    }
  }

  async #answer(
    { id, method, params }: Extract<Message, { kind: "request" }>,
    signal: AbortSignal,
  ): Promise<object | undefined> {
    const leaving = AbortSignal.any([signal, this.#inputOver.signal]);
    try {
      const serve = Object.hasOwn(this.#methods, method) ? this.#methods[method] : undefined;
      if (serve === undefined) throw new RpcError(CODES.noMethod, "Method not found");
      const result = await serve(params, {
        host: this.#host,
        signal,
        leaving,
        revision: this.#revision,
        agreed: (revision) => {
          this.#revision = revision;
        },
        notify: (name, more) => this.#send({ jsonrpc: "2.0", method: name, params: more }),
      });
      return { jsonrpc: "2.0", id, result };
    } catch (error) {
      if (error instanceof RpcError) return refusal(id, error);
      if (leaving.aborted && error === leaving.reason) return undefined;
      this.#host.fault(method, error);
      return refusal(id, new RpcError(CODES.internal, "this went wrong inside agent-bridge; its stderr says more"));
    }
  }

  #refuse(id: RequestId | null, error: RpcError): Promise<void> {
    return this.#send(refusal(id, error));
  }

  /** Never fails: when nothing can be sent, the server ends. */
  async #send(message: object): Promise<void> {
    if (this.#end.aborted) return;
    await this.#outbox.send(`${JSON.stringify(message)}\n`).catch((error: unknown) => this.#broken.abort(error));
  }
}

function refusal(id: RequestId | null, { code, message, data }: RpcError): object {
  return { jsonrpc: "2.0", id, error: { code, message, ...(data !== undefined && { data }) } };
}
