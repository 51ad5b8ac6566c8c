import { EXPORT_FORMATS } from "../../export/document.ts";
import { Failure } from "../../platform/failure.ts";
import { EXPORT_SOURCES, exportFrom } from "../../routes/export-source.ts";
import { COUNT, object, orNull, TEXT } from "../../routes/schemas.ts";
import { printable } from "../../transcript/printable.ts";
import { Documents, pieceFrom } from "../documents.ts";
import { CHILD, CURSOR, LIMIT, SESSION, USUAL_CHARACTERS } from "../limits.ts";
import { READS, type Tool, tool } from "../tool.ts";
import { framed, NOTICE } from "../untrusted.ts";

/** `agent_export`: a session as one document, in pieces. What it holds is given back by `close`. */
export function agentExport(): Tool & { close(): Promise<void> } {
  const documents = new Documents();
  const made = tool({
    name: "agent_export",
    title: "Export a session",
    description:
      "Puts the whole chat of a session together as one document, nothing cut, with its totals at the top, and gives it in pieces of about `limit` characters: call again with only the session and the answer's `next` cursor until `next` is null. " +
      "To look something up, read_session is cheaper.",
    input: {
      session: SESSION,
      child: CHILD,
      format: { type: "string", enum: EXPORT_FORMATS, description: "`markdown` when absent." },
      source: {
        type: "string",
        enum: EXPORT_SOURCES,
        description:
          "`native`: the agent's own store. `daemon`: what agent-bridge recorded. `auto` (when absent): the first, else the other.",
      },
      subagents: { type: "boolean", description: "Put subagents' chats in, each at its place." },
      reasoning: { type: "boolean", description: "Put in what the agent thought, where that can be read." },
      maxToolChars: {
        type: "integer",
        minimum: 1,
        maximum: 1_000_000_000,
        description: "Cut inputs and outputs of tools to so many characters each.",
      },
      cursor: CURSOR,
      limit: LIMIT,
    },
    required: ["session"],
    output: object({
      notice: TEXT,
      text: { ...TEXT, description: "The piece." },
      type: { ...TEXT, description: "The document's content type." },
      source: { type: "string", enum: ["native", "daemon"] },
      from: { ...COUNT, description: "Where in the document the piece begins: bytes." },
      size: { ...COUNT, description: "The size of the document: bytes." },
      next: { ...orNull(TEXT), description: "The cursor of the next piece; null when this is the last." },
    }),
    hints: READS,
    async run({ session, child, cursor, limit = USUAL_CHARACTERS, ...given }, { host, signal }) {
      const { format = "markdown", source: asked = "auto", maxToolChars } = given;
      const { subagents = false, reasoning = false } = given;
      const held = cursor === undefined ? undefined : heldPlace(cursor);
      if (held !== undefined && (child !== undefined || Object.keys(given).length > 0)) {
        throw new Failure(
          "bad-request",
          "beside a cursor only session and limit can stand: the document is made already",
        );
      }
      const newly = async (): Promise<string> => {
        const { ways } = await host.asked(session, child);
        const options = { format, subagents, reasoning, ...(maxToolChars !== undefined && { maxToolChars }) };
        return documents.add(await exportFrom(ways, asked, options, { folder: host.spoolFolder, signal }));
      };
      const key = held?.key ?? (await newly());
      const document = documents.get(key);
      const { size, type, source } = document;
      const piece = await pieceFrom(document, Math.min(held?.from ?? 0, size), limit);
      const { from, to } = piece;
      const text = printable(piece.text);
      const next = to < size ? `${key}:${to}` : null;
      return {
        structured: { notice: NOTICE, text, type, source, from, size, next },
        text: [
          `${document.fileName} from ${source === "native" ? "the agent's own store" : "what agent-bridge recorded"}: bytes ${from} to ${to} of ${size}`,
          framed(() => text),
          ...(next === null ? [] : [`more: cursor ${next}`]),
        ].join("\n"),
      };
    },
  });
  return { ...made, close: () => documents.close() };
}

function heldPlace(cursor: string): { readonly key: string; readonly from: number } {
  const [, key, from] = /^([0-9a-f]{8}):(\d{1,15})$/.exec(cursor) ?? [];
  if (key === undefined) throw new Failure("bad-request", "cursor must be the next of an earlier answer");
  return { key, from: Number(from) };
}
