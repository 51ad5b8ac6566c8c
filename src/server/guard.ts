import type { IncomingMessage } from "node:http";
import { Failure } from "../platform/failure.ts";
import { type BodyTerms, hasBody, readJsonBody } from "./body.ts";
import { carriesKey, usableKey } from "./cookie.ts";
import { checkedHost, checkFetchSite, checkNoWebSocket, checkOrigin, headerValues, originOf } from "./origin.ts";
import { readQuery } from "./query.ts";
import type { Route, RouteRequest } from "./route.ts";
import type { Router } from "./router.ts";

/** Characters of a request's target. */
export const TARGET_CHARACTERS = 8 * 1024;

/** A route that a request asks for; whether it may have it is still to be asked. */
export interface Found {
  readonly route: Route;
  readonly params: { readonly [name: string]: string };
  readonly host: string;
  readonly target: string;
  /** What stands behind the `?`. */
  readonly search: string | undefined;
}

/** A known path was asked with a method that it does not have. */
export class MethodRefused extends Failure {
  /** The methods it has, as the header `Allow` takes them. */
  readonly allow: string;

  constructor(allow: string) {
    super("method-not-allowed", `this path answers ${allow} only`);
    this.allow = allow;
  }
}

/**
 * First half of the guard, in the contract's order: Host, the form of the target, other sites, path, method.
 * @throws Failure forbidden, bad-request, url-too-long, not-found, or a MethodRefused
 */
export function findRoute(request: IncomingMessage, router: Router): Found {
  const host = checkedHost(request);
  const target = request.url ?? "";
  if (target.length > TARGET_CHARACTERS) throw new Failure("url-too-long", "the URL is over 8 KiB");
  if (!target.startsWith("/")) throw new Failure("bad-request", "the request must name a path, beginning with /");
  checkFetchSite(request);
  checkNoWebSocket(request);
  const question = target.indexOf("?");
  const match = router.match(request.method ?? "", question < 0 ? target : target.slice(0, question));
  switch (match.kind) {
    case "nothing":
      throw new Failure("not-found", "there is nothing at this path");
    case "other-method":
      throw new MethodRefused(match.allow);
    case "route": {
      const search = question < 0 ? undefined : target.slice(question + 1);
      return { route: match.route, params: match.params, host, target, search };
    }
  }
}

/**
 * Second half: key, origin of a change, query, body. What it gives is all that a handler ever sees of a request.
 * `key` gives the key as it is now, or throws a Failure that says why there is none; `noKey` is told to who comes without.
 * @throws Failure forbidden, bad-request, unsupported-media-type, body-too-large
 */
export async function admit(
  request: IncomingMessage,
  found: Found,
  { key, noKey }: { readonly key: () => string; readonly noKey: string },
  terms: BodyTerms,
): Promise<RouteRequest> {
  const { route, host, params, target } = found;
  const withKey = checkKey(request, route, key, noKey);
  if (route.method !== "GET") checkOrigin(request, host);
  const query = readQuery(route.query, found.search);
  const body = await bodyFor(request, route, terms);
  return {
    params,
    query,
    target,
    lastEventId: headerValues(request, "last-event-id")[0] || undefined,
    header: (name) => only(headerValues(request, name)),
    ...(withKey && { withKey }),
    origin: originOf(host),
    body,
    signal: terms.signal,
  };
}

function only(values: readonly string[]): string | undefined {
  return values.length === 1 ? values[0] : undefined;
}

function checkKey(request: IncomingMessage, route: Route, key: () => string, noKey: string): boolean {
  const cookies = headerValues(request, "cookie");
  if (route.access === "open") return cookies.length > 0 && hasKey(cookies, key);
  if (cookies.length > 0 && carriesKey(cookies, usableKey(key))) return true;
  throw new Failure("forbidden", noKey);
}

/**
 * Whether `request` would still be let in: the key may have been replaced since. Streams ask again and again.
 * @param key gives the key as it is now, or throws a Failure: then nobody is let in
 */
export function isStillAdmitted(request: IncomingMessage, { access }: Route, key: () => string): boolean {
  return access === "open" || hasKey(headerValues(request, "cookie"), key);
}

/** A route that is open to all stays open when the key can't be read. */
function hasKey(cookies: readonly string[], key: () => string): boolean {
  try {
    return carriesKey(cookies, key());
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

async function bodyFor(request: IncomingMessage, route: Route, terms: BodyTerms): Promise<unknown> {
  switch (route.method) {
    case "POST":
      return readJsonBody(request, terms);
    case "DELETE":
      if (hasBody(request)) throw new Failure("bad-request", "a DELETE has no body");
      return undefined;
    case "GET":
      return undefined;
  }
}
