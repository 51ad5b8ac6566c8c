import type { Route } from "./route.ts";

const NAME = /^[a-z][A-Za-z0-9]*$/;
const LITERAL = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;

/**
 * Refuses a route table that could mislead: a pattern that is none, two routes for the same requests, two patterns of
 * which neither is the more exact, a route below `/api/` (or one that changes something) open without the key, and
 * anything that `openapi.json` would have to leave out.
 * @throws Error that names the route and what is wrong with it.
 */
export function checkTable(routes: readonly Route[]): void {
  for (const route of routes) checkRoute(route);
  routes.forEach((route, i) => {
    for (const other of routes.slice(i + 1)) checkPair(route, other);
  });
}

function checkRoute(route: Route): void {
  const { method, pattern } = route;
  if (!["GET", "POST", "DELETE"].includes(method)) wrong(route, "no such method");
  checkPattern(route);
  if (!["key", "open"].includes(route.access)) wrong(route, "says not who may ask");
  if (route.access === "open" && /^\/api(?:\/|$)/i.test(pattern)) wrong(route, "routes below /api/ need the key");
  if (route.access === "open" && method !== "GET") wrong(route, "routes that change something need the key");
  if (!route.summary) wrong(route, "has no summary");
  if (typeof route.answer !== "object" || route.answer === null) wrong(route, "has no answer schema");
  if (typeof route.handle !== "function") wrong(route, "has no handler");
  for (const [name, parameter] of Object.entries(route.query)) {
    if (!NAME.test(name)) wrong(route, `"${name}" is no name for a query parameter`);
    if (!parameter.description || typeof parameter.schema !== "object" || typeof parameter.read !== "function") {
      wrong(route, `the query parameter "${name}" needs a description, a schema and a reader`);
    }
  }
}

function checkPattern(route: Route): void {
  if (!route.pattern.startsWith("/")) wrong(route, "a pattern starts with /");
  if (route.pattern === "/") return;
  const segments = segmentsOf(route);
  for (const segment of segments) {
    const fine = segment.startsWith(":") ? NAME.test(segment.slice(1)) : LITERAL.test(segment);
    if (!fine) wrong(route, `"${segment}" is no segment of a pattern`);
  }
  const names = segments.filter((segment) => segment.startsWith(":"));
  if (new Set(names).size < names.length) wrong(route, "names a parameter twice");
}

/** Two routes that a path could fit both. */
function checkPair(a: Route, b: Route): void {
  const [left, right] = [segmentsOf(a), segmentsOf(b)];
  if (left.length !== right.length) return;
  const pairs = left.map((segment, i) => [segment, right[i] ?? ""] as const);
  const isName = (segment: string): boolean => segment.startsWith(":");
  if (pairs.some(([x, y]) => !isName(x) && !isName(y) && x !== y)) return;
  const leftIsMoreExact = pairs.some(([x, y]) => !isName(x) && isName(y));
  const rightIsMoreExact = pairs.some(([x, y]) => isName(x) && !isName(y));
  if (leftIsMoreExact && rightIsMoreExact) wrong(a, `is ambiguous beside ${b.pattern}`);
  if (leftIsMoreExact || rightIsMoreExact) return;
  if (a.method === b.method) wrong(a, "stands in the table twice");
  if (a.pattern !== b.pattern) wrong(a, `is ${b.pattern} under other names`);
}

function segmentsOf(route: Route): string[] {
  return route.pattern.slice(1).split("/");
}

function wrong(route: Route, reason: string): never {
  throw new Error(`route ${route.method} ${route.pattern}: ${reason}`);
}
