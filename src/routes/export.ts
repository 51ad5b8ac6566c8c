import { EXPORT_FORMATS } from "../export/document.ts";
import { type Route, route } from "../server/route.ts";
import type { ExportDesk } from "./export-desk.ts";
import { EXPORT } from "./export-schema.ts";
import { EXPORT_SOURCES, type ExportWays } from "./export-source.ts";
import { flag, integer, oneOf } from "./query.ts";
import { TEXT } from "./schemas.ts";

const QUERY = {
  format: oneOf("format", "What the document is written in; `markdown` when absent.", EXPORT_FORMATS),
  source: oneOf(
    "source",
    "`native`: the agent's own store. `daemon`: our recording. `auto`, and absent: the first of them that has something to show and can be read.",
    EXPORT_SOURCES,
  ),
  subagents: flag("subagents", "1: with what was said in subagents, at their places."),
  reasoning: flag("reasoning", "1: with what the agent thought, where it is kept readable."),
  maxToolChars: integer(
    "maxToolChars",
    "Inputs and outputs of tools are cut to so many characters each. Absent: nothing is cut.",
    1,
    Number.MAX_SAFE_INTEGER,
  ),
};

/** The route of a chat as one document, complete. `find`: the ways to the chat that the path names. */
export function exportRoute(
  pattern: string,
  what: string,
  find: (params: { readonly [name: string]: string }) => Promise<ExportWays>,
  desk: ExportDesk,
): Route {
  return route({
    method: "GET",
    pattern,
    summary: `The whole chat of ${what}, as one document to keep`,
    query: QUERY,
    answer: TEXT,
    media: "text/markdown",
    alternatives: { "application/json": EXPORT, "text/html": TEXT },
    access: "key",
    handle: async ({ params, query, signal }) => {
      const { format = "markdown", source = "auto", subagents = false, reasoning = false, maxToolChars } = query;
      const asked = { format, source, subagents, reasoning, ...(maxToolChars !== undefined && { maxToolChars }) };
      const { document, close } = await desk.make(await find(params), asked, signal);
      const { type, size, fileName } = document;
      const headers = { ...document.headers, "Content-Disposition": attachment(fileName) };
      return { kind: "document", type, headers, size, body: document.bytes(), close };
    },
  });
}

/** Has a browser keep the document under this name, whatever it is (RFC 6266). */
function attachment(fileName: string): string {
  const exact = encodeURIComponent(fileName).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${fileName.replace(/[^\w.-]/g, "_")}"; filename*=UTF-8''${exact}`;
}
