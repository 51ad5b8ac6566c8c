import { createHash } from "node:crypto";
import { type Route, route } from "./route.ts";

/** A file of the page, held in memory: no request ever touches a path. */
export interface Asset {
  /** Where it is served, e.g. `/assets/style.css`. */
  readonly path: string;
  /** Its content type, with the charset. */
  readonly type: string;
  readonly body: string;
}

/** The route that serves `asset`, to everybody: what is worth a key comes from the API. */
export function assetRoute(asset: Asset): Route {
  const facts = [createHash("sha256").update(asset.body).digest("base64url")];
  const validity = { facts, factsNow: () => facts, uses: [], settled: true };
  return route({
    method: "GET",
    pattern: asset.path,
    summary: "A file of the page",
    query: {},
    answer: { type: "string" },
    media: asset.type,
    conditional: true,
    access: "open",
    handle: async () => ({ kind: "text", type: asset.type, body: asset.body, validity }),
  });
}
