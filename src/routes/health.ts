import { type Route, route } from "../server/route.ts";

/** `GET /healthz`: that a server answers, told to everyone. */
export function healthRoute(): Route {
  return route({
    method: "GET",
    pattern: "/healthz",
    summary: "Whether the server answers",
    query: {},
    answer: {
      type: "object",
      required: ["ok"],
      properties: { ok: { const: true } },
    },
    access: "open",
    handle: async () => ({ kind: "json", body: { ok: true } }),
  });
}
