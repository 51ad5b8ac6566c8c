import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { type Happening, happening } from "../waiting.ts";
import { ANTHROPIC } from "./anthropic.ts";
import { COMPLETIONS } from "./completions.ts";
import type { Body, Dialect } from "./dialect.ts";
import { RESPONSES } from "./responses.ts";
import { nextTurn } from "./script.ts";

/** The end of the path, and what is spoken there. */
const DIALECTS: readonly (readonly [RegExp, Dialect])[] = [
  [/\/messages(\?|$)/, ANTHROPIC],
  [/\/responses(\?|$)/, RESPONSES],
  [/\/chat\/completions(\?|$)/, COMPLETIONS],
];

/** Requests that are kept. */
const MOST_REQUESTS = 32;

interface Hold {
  readonly reached: Happening;
  readonly released: Happening;
}

/** A model on 127.0.0.1 that plays the scripts in what it is told, and waits at their holds for the test. */
export class Model {
  readonly #server: Server;
  readonly #holds = new Map<string, Hold>();
  /** The last requests, as they came. */
  readonly requests: string[] = [];
  /** What went wrong in here, so that a test can say so. */
  readonly faults: unknown[] = [];

  /** A model that listens. */
  static async start(): Promise<Model> {
    const model = new Model();
    await new Promise<void>((resolve) => model.#server.listen(0, "127.0.0.1", resolve));
    return model;
  }

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((fault) => {
        this.faults.push(fault);
        response.destroy();
      });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Comes back when some answer has come to `@hold name`; it goes no further before `release(name)`. */
  reached(name: string): Promise<void> {
    return this.#hold(name).reached.happened;
  }

  release(name: string): void {
    this.#hold(name).released.happen();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #hold(name: string): Hold {
    let hold = this.#holds.get(name);
    if (hold === undefined) {
      hold = { reached: happening(), released: happening() };
      this.#holds.set(name, hold);
    }
    return hold;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, dialect] = DIALECTS.find(([path]) => path.test(request.url ?? "")) ?? [];
    if (dialect === undefined || request.method !== "POST") {
      response.writeHead(404, { "content-type": "application/json" }).end("{}");
      return;
    }
    const body = (await json(request)) as Body;
    this.requests.push(JSON.stringify(body));
    if (this.requests.length > MOST_REQUESTS) this.requests.shift();
    // Without tools it is a question of the CLI's own, about a title say, that repeats the user's text.
    const side = (body.tools ?? []).length === 0;
    const turn = side ? [{ op: "say", text: "A title" } as const] : nextTurn(dialect.messages(body));
    const failure = turn.find((step) => step.op === "error");
    const begin = () => dialect.answer(body, response.writeHead(200, { "content-type": "text/event-stream" }));
    const writer = failure === undefined ? begin() : undefined;
    for (const step of turn) {
      if (step.op === "say") writer?.say(step.text);
      if (step.op === "call") writer?.call(step.tool, step.input);
      if (step.op === "hold" && !(await this.#pass(step.name, response))) return;
    }
    writer?.end();
    if (failure === undefined) return;
    response.writeHead(failure.status, { "content-type": "application/json" });
    response.end(JSON.stringify(dialect.error("a scripted failure")));
  }

  /** Waits for the release; false when the CLI has gone meanwhile. */
  async #pass(name: string, response: ServerResponse): Promise<boolean> {
    const hold = this.#hold(name);
    hold.reached.happen();
    const gone = new Promise<void>((resolve) => response.once("close", resolve));
    await Promise.race([hold.released.happened, gone]);
    return !response.destroyed;
  }
}
