import { percentDecoded } from "./percent.ts";
import type { Route } from "./route.ts";
import { checkTable } from "./table.ts";

/** What a path and a method lead to. */
export type Match =
  | { readonly kind: "route"; readonly route: Route; readonly params: { readonly [name: string]: string } }
  /** The path exists, for the methods of `allow` (as the header of that name is written). */
  | { readonly kind: "other-method"; readonly allow: string }
  | { readonly kind: "nothing" };

/** Finds routes by method and path. */
export interface Router {
  /** `path` as it came, still escaped, without the query. */
  match(method: string, path: string): Match;
}

/**
 * A router over `routes`. An exact segment goes before a parameter. Each segment is decoded by itself, once, so `%2f`,
 * `..` and `%00` stay data of that segment and never become a path. `/a/` and `//a` are not `/a`.
 * @throws Error when the table is wrong (see `checkTable`).
 */
export function makeRouter(routes: readonly Route[]): Router {
  checkTable(routes);
  const compiled = routes.map(compile).sort(exactFirst);
  return {
    match(method, path) {
      const segments = decodedSegments(path);
      if (segments === undefined) return { kind: "nothing" };
      const fitting = compiled.filter((candidate) => fits(candidate, segments));
      const found = fitting.find(({ route }) => route.method === method);
      if (found !== undefined) return { kind: "route", route: found.route, params: paramsOf(found, segments) };
      if (fitting.length === 0) return { kind: "nothing" };
      return { kind: "other-method", allow: [...new Set(fitting.map(({ route }) => route.method))].sort().join(", ") };
    },
  };
}

interface Compiled {
  readonly route: Route;
  readonly segments: readonly string[];
}

function compile(route: Route): Compiled {
  return { route, segments: route.pattern.slice(1).split("/") };
}

/** Between patterns that fit the same path, one is the more exact in every place: `checkTable` refuses all others. */
function exactFirst(a: Compiled, b: Compiled): number {
  const parameters = ({ segments }: Compiled): number => segments.filter((segment) => segment.startsWith(":")).length;
  return parameters(a) - parameters(b);
}

function decodedSegments(path: string): readonly string[] | undefined {
  if (!path.startsWith("/")) return undefined;
  const decoded: string[] = [];
  for (const raw of path.slice(1).split("/")) {
    const segment = percentDecoded(raw);
    if (segment === undefined) return undefined;
    decoded.push(segment);
  }
  return decoded;
}

function fits({ segments }: Compiled, path: readonly string[]): boolean {
  if (segments.length !== path.length) return false;
  return segments.every((segment, i) => (segment.startsWith(":") ? path[i] !== "" : segment === path[i]));
}

function paramsOf({ segments }: Compiled, path: readonly string[]): { readonly [name: string]: string } {
  return Object.fromEntries(
    segments.flatMap((segment, i) => (segment.startsWith(":") ? [[segment.slice(1), path[i] ?? ""]] : [])),
  );
}
