import { Agent, get, type IncomingHttpHeaders, type IncomingMessage } from "node:http";

/** What was answered. */
export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A client of one server on this machine, over kept connections. */
export class Client {
  readonly #port: number;
  readonly #headers: Record<string, string>;
  readonly #agent: Agent;

  constructor(port: number, headers: Record<string, string> = {}, connections = 1) {
    this.#port = port;
    this.#headers = headers;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** The answer to a GET, whatever its status. @throws the system's error */
  async get(path: string, headers: Record<string, string> = {}): Promise<Answered> {
    const response = await this.#request(path, headers, this.#agent);
    const parts: Buffer[] = [];
    for await (const part of response) parts.push(part);
    return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) };
  }

  /** The body of a 200. @throws Error for any other status */
  async body(path: string): Promise<Buffer> {
    const { status, body } = await this.get(path);
    if (status !== 200) throw new Error(`${path} answered ${status}: ${body.toString().slice(0, 200)}`);
    return body;
  }

  /** Reads the body of a 200 and keeps none of it: how many bytes. @throws Error for any other status, or a body that is cut off */
  async drain(path: string): Promise<number> {
    const response = await this.#request(path, {}, this.#agent);
    let bytes = 0;
    for await (const part of response) bytes += part.length;
    if (response.statusCode === 200 && response.complete) return bytes;
    throw new Error(`${path} answered ${response.statusCode}`);
  }

  /** The JSON of a 200. @throws Error for any other status */
  async json<T>(path: string): Promise<T> {
    return JSON.parse((await this.body(path)).toString());
  }

  /** A stream on a connection of its own, open until it is destroyed. @throws Error for any status but 200 */
  async stream(path: string): Promise<IncomingMessage> {
    const response = await this.#request(path, { accept: "text/event-stream" }, false);
    if (response.statusCode === 200) return response;
    response.destroy();
    throw new Error(`${path} answered ${response.statusCode}`);
  }

  /** Closes the kept connections. */
  close(): void {
    this.#agent.destroy();
  }

  #request(path: string, headers: Record<string, string>, agent: Agent | false): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const options = { host: "127.0.0.1", port: this.#port, path, agent, headers: { ...this.#headers, ...headers } };
      get(options, resolve).on("error", reject);
    });
  }
}
