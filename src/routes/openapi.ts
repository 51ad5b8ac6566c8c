import { openApiDocument } from "../server/openapi.ts";
import { type Route, route } from "../server/route.ts";

/** `GET /api/openapi.json`. `table` gives every route, this one too, once they are put together. */
export function openApiRoute(table: () => readonly Route[], version: string): Route {
  return route({
    method: "GET",
    pattern: "/api/openapi.json",
    summary: "The description of this API (OpenAPI 3.1)",
    query: {},
    answer: { type: "object", required: ["openapi", "info", "paths"] },
    access: "key",
    handle: async () => ({ kind: "json", body: openApiDocument(table(), version) }),
  });
}
