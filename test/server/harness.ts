import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { type Clock, systemClock } from "../../src/platform/clock.ts";
import type { Asset } from "../../src/server/asset.ts";
import { listen, type RunningServer } from "../../src/server/listen.ts";
import type { ServerLogRecord } from "../../src/server/log.ts";
import { type Answer, type Route, type RouteRequest, route } from "../../src/server/route.ts";

/** The key of every server that tests start. */
export const KEY = "0123456789abcdef0123456789abcdef0123456789abcdef";

/** The header that lets a request in. */
export const COOKIE = { cookie: `ab_ui=${KEY}` };

/** A route whose handler is all that matters. */
export function plainRoute(
  pattern: string,
  handle: (request: RouteRequest) => Promise<Answer> | Answer = () => ({ kind: "json", body: { pattern } }),
  more: Partial<Route> = {},
): Route {
  return route({
    method: "GET",
    pattern,
    summary: "a route",
    query: {},
    answer: {},
    access: pattern.startsWith("/api/") ? "key" : "open",
    handle: async (request) => handle(request),
    ...more,
  });
}

/** An answer as it came. */
export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server of a test. */
export interface TestServer extends RunningServer {
  readonly log: ServerLogRecord[];
  /** Sends a request; the path goes out as it is given. */
  ask(
    path: string,
    given?: { method?: string; headers?: { [name: string]: string | string[] }; body?: string | Buffer },
  ): Promise<Received>;
  /** Sends bytes and gives all that comes back until the server hangs up. */
  raw(bytes: string): Promise<string>;
}

/** Starts a server on a free port, and closes it after the test. */
export async function serve(
  t: TestContext,
  routes: readonly Route[],
  more: {
    clock?: Clock;
    key?: () => string;
    noKey?: string;
    assets?: readonly Asset[];
    bodyTimeoutMs?: number;
    keepAliveMs?: number;
    recheckMs?: number;
    stallMs?: number;
  } = {},
): Promise<TestServer> {
  const log: ServerLogRecord[] = [];
  const server = await listen({
    routes,
    port: 0,
    key: () => KEY,
    version: "1.2.3",
    clock: systemClock,
    log: (record) => log.push(record),
    ...more,
  });
  t.after(() => server.close());
  return {
    ...server,
    log,
    ask: (path, given) => ask(server.port, path, given),
    raw: (bytes) => raw(server.port, bytes),
  };
}

function ask(
  port: number,
  path: string,
  { method = "GET", headers = {}, body }: Parameters<TestServer["ask"]>[1] = {},
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: "127.0.0.1", port, path, method, headers, agent: false }, (response) => {
      text(response).then(
        (received) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: received }),
        reject,
      );
    });
    request.on("error", reject);
    request.end(body);
  });
}

function raw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes, "latin1"));
    socket.on("error", reject);
    text(socket).then(resolve, reject);
  });
}
