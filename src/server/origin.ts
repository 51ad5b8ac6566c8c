import type { IncomingMessage } from "node:http";
import { Failure } from "../platform/failure.ts";

const OWN_HOST = /^(?:127\.0\.0\.1|localhost|\[::1\])\.?(?::\d{1,5})?$/i;

/**
 * The one Host header of a request, when it names this machine's loopback: any other name could have been pointed here by
 * whoever owns it (DNS rebinding). The port may differ, so that an SSH tunnel works.
 * @throws Failure forbidden: another host, none, or several.
 */
export function checkedHost(request: IncomingMessage): string {
  const hosts = headerValues(request, "host");
  const [host = ""] = hosts;
  if (hosts.length === 1 && OWN_HOST.test(host)) return host;
  const asked = hosts.length > 1 ? "several hosts" : host === "" ? "no host" : `"${shown(host)}"`;
  throw new Failure(
    "forbidden",
    `this server answers to 127.0.0.1, localhost and [::1] only, and was asked for ${asked}`,
  );
}

/**
 * Refuses what another site's page asks for, by the browser's own word (Fetch Metadata).
 * @throws Failure forbidden
 */
export function checkFetchSite(request: IncomingMessage): void {
  const sites = headerValues(request, "sec-fetch-site").flatMap((value) => value.toLowerCase().split(/[\s,]+/));
  if (!sites.includes("cross-site") && !sites.includes("same-site")) return;
  throw new Failure(
    "forbidden",
    "pages of other sites may not ask this server; to open it from there, paste the address into the browser's address bar",
  );
}

/**
 * Refuses the opening of a WebSocket: pages of other origins may send one with our cookie, and browsers do not say from
 * which site it comes.
 * @throws Failure bad-request
 */
export function checkNoWebSocket(request: IncomingMessage): void {
  if (
    headerValues(request, "sec-websocket-key").length > 0 ||
    headerValues(request, "sec-websocket-version").length > 0
  ) {
    throw new Failure("bad-request", "there are no WebSockets here: streams are server-sent events");
  }
}

/**
 * Refuses a change that a page of another origin asks for. Programs send no Origin.
 * @throws Failure forbidden: an Origin that is not the address the request itself was sent to.
 */
export function checkOrigin(request: IncomingMessage, host: string): void {
  const origins = headerValues(request, "origin");
  if (origins.length === 0) return;
  if (origins.length === 1 && sameOrigin(origins[0] ?? "", originOf(host))) return;
  throw new Failure("forbidden", "only this server's own page may ask for changes");
}

/** The address of this server, as a client wrote it in its Host header. */
export function originOf(host: string): string {
  return `http://${host.toLowerCase()}`;
}

/** The values of every header of that name (in lower case), as they came. */
export function headerValues(request: IncomingMessage, name: string): string[] {
  return request.headersDistinct[name] ?? [];
}

/** Browsers leave out the port 80. */
function sameOrigin(a: string, b: string): boolean {
  const plain = (origin: string): string => origin.toLowerCase().replace(/:80$/, "");
  return plain(a) === plain(b);
}

/** What a client sent, fit to stand in a message. */
function shown(text: string): string {
  return text.replace(/[^ -~]|["\\]/g, "?").slice(0, 100);
}
