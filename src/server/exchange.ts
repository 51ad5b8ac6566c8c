import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { errorCode, Failure } from "../platform/failure.ts";
import { type DispatchOptions, dispatch } from "./dispatch.ts";
import { findRoute } from "./guard.ts";
import { traceOf } from "./log.ts";
import { rawRefusal, refusalOf } from "./respond.ts";

/** How long a refused connection is kept for the client to read why. */
const LINGER_MS = 300;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly controller: AbortController;
}

/** The requests under way on all connections, and what is to become of connections that speak no HTTP. */
export class Exchanges {
  readonly #options: DispatchOptions;
  readonly #open = new Set<Exchange>();
  /** The last request that came over each connection. */
  readonly #latest = new WeakMap<Duplex, Exchange>();
  #ending = false;

  constructor(options: DispatchOptions) {
    this.#options = options;
  }

  /** A request whose headers have come. */
  take(request: IncomingMessage, response: ServerResponse): void {
    const exchange = { request, response, controller: new AbortController() };
    this.#open.add(exchange);
    this.#latest.set(request.socket, exchange);
    if (this.#ending) response.shouldKeepAlive = false;
    response.on("close", () => {
      this.#open.delete(exchange);
      exchange.controller.abort();
    });
    dispatch(this.#options, request, response, exchange.controller.signal).catch((error: unknown) => {
      this.#options.log({ level: "error", msg: `answering: ${traceOf(error)}` });
      response.destroy();
    });
  }

  /** What came over `socket` is not HTTP, too long or too slow. */
  malformed(error: Error, socket: Duplex): void {
    const failure = refusalFor(error);
    const exchange = this.#latest.get(socket);
    if (errorCode(error) === "ECONNRESET" || !socket.writable) socket.destroy();
    else if (exchange === undefined || exchange.response.writableFinished) refuseSocket(socket, failure);
    else if (!exchange.request.complete) this.#fail(exchange, failure);
    // Pipelined behind a good request: its answer goes first.
    else exchange.response.once("finish", () => refuseSocket(socket, failure));
  }

  /** A CONNECT: no route has that method. It is refused for the first reason that any other request would be. */
  refuseProxying(request: IncomingMessage, socket: Duplex): void {
    const started = this.#options.clock.now();
    let failure = malformed("this server is no proxy");
    try {
      findRoute(request, this.#options.router);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failure = error;
    }
    refuseSocket(socket, failure);
    const { status, message } = refusalOf(failure);
    const ms = this.#options.clock.now() - started;
    this.#options.log({ level: status === 403 ? "warn" : "debug", msg: message, status, ms });
  }

  /** The server ends: streams end, what is being made may still be answered. */
  end(): void {
    this.#ending = true;
    for (const { controller, response } of this.#open) {
      if (!response.headersSent) response.shouldKeepAlive = false;
      controller.abort();
    }
  }

  /** The body of a request under way is broken: the refusal is the answer to that request. */
  #fail({ response, controller }: Exchange, failure: Failure): void {
    if (!response.headersSent) response.shouldKeepAlive = false;
    controller.abort(failure);
  }
}

function refusalFor(error: Error): Failure {
  switch (errorCode(error)) {
    case "HPE_HEADER_OVERFLOW":
      return "rawPacket" in error && Buffer.isBuffer(error.rawPacket) && error.rawPacket.includes("\n")
        ? malformed("the headers are over 128 KiB")
        : new Failure("url-too-long", "the URL is over 8 KiB");
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return malformed("the request took too long to arrive");
    default:
      return malformed("this is not an HTTP request");
  }
}

function malformed(message: string): Failure {
  return new Failure("bad-request", message);
}

/** Says why and hangs up; not before the client had time to read it, since closing on unread input resets. */
function refuseSocket(socket: Duplex, failure: Failure): void {
  if (!socket.writable) return;
  const hangUp = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.on("error", () => {});
  socket.once("close", () => clearTimeout(hangUp));
  socket.once("end", () => socket.destroy());
  socket.end(rawRefusal(failure));
  socket.resume();
}
