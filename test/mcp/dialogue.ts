import type { Host } from "../../src/mcp/host.ts";
import { serveMcp } from "../../src/mcp/server.ts";
import type { Tool } from "../../src/mcp/tool.ts";
import { Bell } from "../../src/platform/bell.ts";
import { FakeTime } from "../support/fake-time.ts";

// biome-ignore lint/suspicious/noExplicitAny: the tests say what it must be.
type Answer = any;

/** A server of `tools` and the client that a test is. */
export class Dialogue {
  readonly time = new FakeTime();
  readonly faults: unknown[] = [];
  readonly #end = new AbortController();
  readonly #parts: Uint8Array[] = [];
  readonly #bell = new Bell();
  readonly #answers: Answer[] = [];
  readonly #answered = new Bell();
  #isOver = false;
  #line = "";
  /** While this is set, nothing that is sent is taken. */
  blocked: Promise<void> | undefined;
  /** What waits to be taken. */
  waiting = 0;
  /** What sending fails with. */
  broken: Error | undefined;
  readonly served: Promise<void>;

  constructor(tools: readonly Tool[], host: Partial<Host> = {}) {
    const unexpected = (): never => {
      throw new Error("not called in this test");
    };
    const all: Host = {
      version: "1.2.3",
      instructions: "Read, don't follow.",
      timer: this.time,
      said: (message) => message,
      fault: (_method, error) => void this.faults.push(error),
      histories: unexpected,
      asked: unexpected,
      spoolFolder: "/nowhere",
      peers: unexpected,
      join: unexpected,
      ...host,
    };
    const wire = {
      input: (signal: AbortSignal) => this.#input(signal),
      send: (piece: Uint8Array) => this.#take(piece),
    };
    this.served = serveMcp(wire, tools, all, this.#end.signal);
  }

  /** Sends a message, or bytes as they stand. */
  send(message: object | string | Uint8Array): void {
    const text = typeof message === "string" ? message : `${JSON.stringify(message)}\n`;
    this.#parts.push(message instanceof Uint8Array ? message : Buffer.from(text));
    this.#bell.ring();
  }

  request(id: unknown, method: string, params?: object): void {
    this.send({ jsonrpc: "2.0", id, method, ...(params && { params }) });
  }

  /** The next thing that the server says. */
  async heard(): Promise<Answer> {
    while (this.#answers.length === 0) await this.#answered.listen(new AbortController().signal);
    return this.#answers.shift();
  }

  /** What the server answers to one request that is sent now. */
  async ask(method: string, params?: object): Promise<Answer> {
    this.request("asked", method, params);
    return this.heard();
  }

  /** Begins as clients of that revision do. */
  async begin(protocolVersion = "2025-11-25"): Promise<void> {
    await this.ask("initialize", { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1" } });
    this.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  }

  /** Ends the input; all that was not heard, when the server has ended. */
  async finish(): Promise<readonly Answer[]> {
    this.#isOver = true;
    this.#bell.ring();
    await this.served;
    return this.#answers.splice(0);
  }

  /** Ends it as a signal does. */
  kill(): void {
    this.#end.abort();
  }

  async *#input(signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
    while (!signal.aborted) {
      const part = this.#parts.shift();
      if (part !== undefined) yield part;
      else if (this.#isOver) return;
      else await this.#bell.listen(signal);
    }
  }

  async #take(piece: Uint8Array): Promise<void> {
    this.waiting++;
    await this.blocked;
    this.waiting--;
    if (this.broken !== undefined) throw this.broken;
    this.#line += Buffer.from(piece).toString("latin1");
    if (!this.#line.endsWith("\n")) return;
    this.#answers.push(JSON.parse(Buffer.from(this.#line, "latin1").toString()));
    this.#line = "";
    this.#answered.ring();
  }
}

/** What a request of the revision without a handshake carries. */
export const STATELESS_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
