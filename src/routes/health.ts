import { CHALLENGE_HEADER, PROOF_HEADER, proofOf } from "../platform/boot-proof.ts";
import { type Route, route } from "../server/route.ts";

/**
 * `GET /healthz`: that a server answers, told to everyone. To a challenge it also proves that it is the server of
 * `bootNonce`: only who can read our notice knows what to expect.
 */
export function healthRoute(bootNonce: string): Route {
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
    handle: async ({ header }) => {
      const proof = proofOf(bootNonce, header?.(CHALLENGE_HEADER));
      return { kind: "json", body: { ok: true }, ...(proof !== undefined && { headers: { [PROOF_HEADER]: proof } }) };
    },
  });
}
