import { EXPORT_FORMATS, type ExportDocument } from "../../export/document.ts";
import { Failure } from "../../platform/failure.ts";
import { EXPORT_SOURCES, exportFrom } from "../../routes/export-source.ts";
import { AGENT, COUNT, ID, object, orNull, TEXT } from "../../routes/schemas.ts";
import { printable } from "../../transcript/printable.ts";
import { Documents, type Piece, pieceFrom } from "../documents.ts";
import { continuedBy, digestOf, exportCursor } from "../export-cursor.ts";
import { CHILD, CURSOR, LIMIT, SESSION, USUAL_CHARACTERS } from "../limits.ts";
import { READS, type Told, type Tool, tool } from "../tool.ts";
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
      session: object({ agent: AGENT, id: ID }, { child: ID }),
      text: { ...TEXT, description: "The piece." },
      type: { ...TEXT, description: "The document's content type." },
      source: { type: "string", enum: ["native", "daemon"] },
      from: { ...COUNT, description: "Where in the document the piece begins: bytes." },
      size: { ...COUNT, description: "The size of the document: bytes." },
      next: { ...orNull(TEXT), description: "The cursor of the next piece; null when this is the last." },
    }),
    hints: READS,
    async run({ session, child, cursor, limit = USUAL_CHARACTERS, ...given }, { host, signal }) {
      if (cursor !== undefined && (child !== undefined || Object.keys(given).length > 0)) {
        throw new Failure("bad-request", "beside a cursor only session and limit can stand: it says the rest");
      }
      const continued = cursor === undefined ? undefined : continuedBy(cursor);
      const { chat, ways } = await host.asked(session, continued?.child ?? child);
      const { agent, id, child: of } = chat.ref;
      const its = { session: `${agent}/${id}`, child: of };
      if (continued !== undefined && (continued.session !== its.session || continued.child !== its.child)) {
        throw new Failure("bad-request", "cursor is of another session's export: give it with that session");
      }
      const { format = "markdown", source = "auto", subagents = false, reasoning = false, maxToolChars } = given;
      const asked = continued?.asked ?? {
        ...{ format, source, subagents, reasoning },
        ...(maxToolChars !== undefined && { maxToolChars }),
      };
      const told = async (document: ExportDocument, digest: () => Promise<string>): Promise<Told> => {
        const { size } = document;
        const piece = await pieceFrom(document, Math.min(continued?.from ?? 0, size), limit);
        const next = piece.to < size ? exportCursor({ ...its, asked, digest: await digest(), from: piece.to }) : null;
        return toldOf(document, piece, next, { agent, id, ...(of !== undefined && { child: of }) });
      };
      const known = continued?.digest;
      const held = known === undefined ? undefined : await documents.use(known, (it) => told(it, async () => known));
      if (held !== undefined) return held;
      // It is made (again), and held while more of it is to be read.
      const { source: from, ...options } = asked;
      const document = await exportFrom(ways, from, options, { folder: host.spoolFolder, signal });
      try {
        const digest = once(() => digestOf(document, signal));
        if (known !== undefined && known !== (await digest())) {
          throw new Failure(
            "conflict",
            "the session has changed since this export began: begin it again, without a cursor",
          );
        }
        const answer = await told(document, digest);
        if (answer.structured.next === null) await document.close();
        else await documents.add(await digest(), document);
        return answer;
      } catch (error) {
        await document.close();
        throw error;
      }
    },
  });
  return { ...made, close: () => documents.close() };
}

function toldOf(
  { fileName, size, type, source }: ExportDocument,
  piece: Piece,
  next: string | null,
  session: object,
): Told {
  const { from, to } = piece;
  const text = printable(piece.text);
  return {
    structured: { notice: NOTICE, session, text, type, source, from, size, next },
    text: [
      `${fileName} from ${source === "native" ? "the agent's own store" : "what agent-bridge recorded"}: bytes ${from} to ${to} of ${size}`,
      framed(() => text),
      ...(next === null ? [] : [`more: cursor ${next}`]),
    ].join("\n"),
  };
}

/** Makes it when it is first asked for. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
