import type { ExportedMessage, ExportMeta } from "../../src/export/model.ts";
import type { DocumentWriter } from "../../src/export/writer.ts";
import { sessionIdOf } from "../../src/transcript/names.ts";

const sessionId = sessionIdOf("s1");
if (sessionId === undefined) throw new Error("no id");

/** What is known of every session of these tests. */
export const META: ExportMeta = {
  agent: "claude",
  sessionId,
  messageCount: 1,
  toolCallCount: 0,
  tokens: {},
  source: "native",
};

/** The link to a subagent of these tests. */
export const SUBAGENT = { id: sessionId, title: "Benign", agent: "claude" } as const;

/** The document of `messages`: subagents' own at their place, messages that were taken back folded. */
export function documentOf(writer: DocumentWriter, meta: ExportMeta, messages: readonly ExportedMessage[]): string {
  return writer.head(meta) + chatOf(writer, messages, 0) + writer.foot(meta);
}

function chatOf(writer: DocumentWriter, messages: readonly ExportedMessage[], depth: number): string {
  const { takenBack } = writer;
  return messages
    .map((message, index) => {
      const place = { depth, isFirst: index === 0 };
      const inner = message.subagent?.messages;
      const piece =
        inner === undefined
          ? writer.message(message, place)
          : writer.beginSubagent(message, place) + chatOf(writer, inner, depth + 1) + writer.endSubagent(place);
      if (message.takenBack === undefined || takenBack.kind === "flag") return piece;
      const begins = messages[index - 1]?.takenBack === undefined;
      const ends = messages[index + 1]?.takenBack === undefined;
      const count = messages.slice(index).findIndex((later) => later.takenBack === undefined);
      return (
        (begins ? takenBack.begin(count < 0 ? messages.length - index : count, depth) : "") +
        piece +
        (ends ? takenBack.end(depth) : "")
      );
    })
    .join("");
}
