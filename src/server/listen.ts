import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { http } from "../platform/builtins.ts";
import type { Clock } from "../platform/clock.ts";
import { errorCode, Failure } from "../platform/failure.ts";
import { type Asset, assetRoute } from "./asset.ts";
import type { DispatchOptions } from "./dispatch.ts";
import { STALL_MS } from "./document.ts";
import { makeEtagMemo } from "./etag.ts";
import { Exchanges } from "./exchange.ts";
import { type ServerLog, traceOf } from "./log.ts";
import type { Route } from "./route.ts";
import { makeRouter } from "./router.ts";
import { KEEP_ALIVE_MS, RECHECK_MS } from "./sse.ts";

/** What a server is made of. */
export interface ServerOptions {
  readonly routes: readonly Route[];
  readonly assets?: readonly Asset[];
  /** 0 for any free one. */
  readonly port: number;
  /** The dashboard key as it is now. @throws Failure when it can't be read */
  readonly key: () => string;
  /** What is told to who comes without the key: how to get it, and no path. */
  readonly noKey?: string;
  /** The program's version. */
  readonly version: string;
  readonly clock: Clock;
  readonly log: ServerLog;
  /** Milliseconds that a request's body may take; 10 s when absent. */
  readonly bodyTimeoutMs?: number;
  /** Milliseconds of silence on a stream before a comment is sent; 15 s when absent. */
  readonly keepAliveMs?: number;
  /** Milliseconds between two looks whether an open stream's client still has the right key; 1 s when absent. */
  readonly recheckMs?: number;
  /** Milliseconds that the client of a document may take nothing; 60 s when absent. */
  readonly stallMs?: number;
}

/** A server that listens. */
export interface RunningServer {
  readonly port: number;
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** Ends streams and connections; done within a second. */
  close(): Promise<void>;
}

/** The port is in use. */
export class PortTaken extends Failure {
  readonly port: number;

  constructor(port: number, cause: unknown) {
    super("failed", `port ${port} is in use: give another with --port, or --port 0 for any free one`, cause);
    this.port = port;
  }
}

const HOST = "127.0.0.1";
/** Well over the longest URL, so that the guard answers a longer one; Node counts URL and headers together. */
const HEADER_BYTES = 128 * 1024;
/** Time for a client to send its headers, and its whole request. */
const HEADERS_MS = 10_000;
const REQUEST_MS = 30_000;
/** How long an idle connection is kept for the next poll. */
const IDLE_MS = 60_000;
/** How long requests under way may go on when the server ends. */
const GRACE_MS = 400;

/**
 * Listens on 127.0.0.1 and on nothing else.
 * @throws PortTaken · Failure failed: the port can't be listened on · Error when the route table is wrong
 */
export async function listen(options: ServerOptions): Promise<RunningServer> {
  const exchanges = new Exchanges(dispatchOptions(options));
  const server = http().createServer({
    requireHostHeader: false,
    maxHeaderSize: HEADER_BYTES,
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: 5_000,
    keepAliveTimeout: IDLE_MS,
  });
  // Nothing but their bytes limits headers: beyond a count, an older Node leaves out the rest (a second Host, a key), unseen.
  server.maxHeadersCount = 0;
  const take = (request: IncomingMessage, response: ServerResponse): void => exchanges.take(request, response);
  server.on("request", take).on("checkContinue", take).on("checkExpectation", take);
  server.on("clientError", (error, socket) => exchanges.malformed(error, socket));
  server.on("connect", (request, socket) => exchanges.refuseProxying(request, socket));
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const port = await start(server, options.port);
  server.on("error", (error) => options.log({ level: "error", msg: `listening: ${traceOf(error)}` }));
  return { port, url: `http://${HOST}:${port}`, close: () => end(server, exchanges, sockets) };
}

function dispatchOptions(options: ServerOptions): DispatchOptions {
  return {
    router: makeRouter([...options.routes, ...(options.assets ?? []).map(assetRoute)]),
    key: options.key,
    noKey: options.noKey ?? "the dashboard key is missing or wrong",
    memo: makeEtagMemo(),
    salt: options.version,
    clock: options.clock,
    log: options.log,
    bodyTimeoutMs: options.bodyTimeoutMs ?? 10_000,
    keepAliveMs: options.keepAliveMs ?? KEEP_ALIVE_MS,
    recheckMs: options.recheckMs ?? RECHECK_MS,
    stallMs: options.stallMs ?? STALL_MS,
  };
}

function start(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const refused = (error: Error): void => reject(notListening(port, error));
    server.once("error", refused);
    server.listen({ host: HOST, port }, () => {
      server.off("error", refused);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

function notListening(port: number, error: Error): Failure {
  if (errorCode(error) === "EADDRINUSE") return new PortTaken(port, error);
  const reason = errorCode(error) === "EACCES" ? "this user may not use it" : "the system refuses it";
  return new Failure("failed", `can't listen on port ${port}: ${reason}; give another with --port`, error);
}

function end(server: Server, exchanges: Exchanges, sockets: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    const cutOff = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, GRACE_MS);
    server.close(() => {
      clearTimeout(cutOff);
      resolve();
    });
    exchanges.end();
    server.closeIdleConnections();
  });
}
