import { createHash } from "node:crypto";
import { zlib } from "../platform/builtins.ts";
import { type Answer, type Route, route } from "./route.ts";

/** A file of the page, held in memory: no request ever touches a path. */
export interface Asset {
  /** Where it is served, e.g. `/assets/style.css`. */
  readonly path: string;
  /** Its content type, with the charset. */
  readonly type: string;
  /** Its text, or that text packed. */
  readonly body: string | Packed;
}

/** A text packed by gzip, as base64. */
export interface Packed {
  readonly gzip: string;
}

/** The route that serves `asset`, to everybody: what is worth a key comes from the API. */
export function assetRoute(asset: Asset): Route {
  const { path, type, body } = asset;
  const facts = [
    createHash("sha256")
      .update(typeof body === "string" ? body : body.gzip)
      .digest("base64url"),
  ];
  const validity = { facts, factsNow: () => facts, uses: [], settled: true };
  const answer = typeof body === "string" ? () => ({ body }) : packedAnswer(body);
  return route({
    method: "GET",
    pattern: path,
    summary: "A file of the page",
    query: {},
    answer: { type: "string" },
    media: type,
    conditional: true,
    access: "open",
    handle: async ({ header }) => ({ kind: "text", type, validity, ...answer(takesGzip(header?.("accept-encoding"))) }),
  });
}

/** What is packed goes out as it is to who can unpack it. */
function packedAnswer({ gzip }: Packed): (acceptsGzip: boolean) => Pick<TextAnswer, "body" | "headers"> {
  let packed: Buffer | undefined;
  return (acceptsGzip) => {
    packed ??= Buffer.from(gzip, "base64");
    const headers = { Vary: "Accept-Encoding" };
    if (acceptsGzip) return { body: packed, headers: { ...headers, "Content-Encoding": "gzip" } };
    return { body: zlib().gunzipSync(packed), headers };
  };
}

/** Whether an Accept-Encoding names gzip, and not to refuse it. */
function takesGzip(accepted = ""): boolean {
  return accepted.split(",").some((coding) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(coding));
}

type TextAnswer = Extract<Answer, { kind: "text" }>;
