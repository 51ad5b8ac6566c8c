import { printableJson } from "../transcript/printable.ts";
import type { DocumentWriter, MessagePlace } from "./writer.ts";

/** Writes `{"meta": …, "messages": […]}`, a message a line; what could act on a terminal is escaped, so parsing gives it back. */
export function jsonWriter(): DocumentWriter {
  return {
    type: "application/json; charset=utf-8",
    extension: "json",
    head: (meta) => `{"meta":${printableJson(meta)},"messages":[`,
    message: (message, place) => `${before(place)}${printableJson(message)}`,
    beginSubagent({ subagent, ...message }, place) {
      // The subagent stands last in its message, and its messages last in the subagent.
      const open = printableJson({ ...message, subagent }).slice(0, -2);
      return `${before(place)}${open},"messages":[`;
    },
    endSubagent: () => "\n]}}",
    takenBack: { kind: "flag", text: ',"takenBack":true' },
    foot: () => "\n]}\n",
  };
}

function before({ isFirst }: MessagePlace): string {
  return isFirst ? "\n" : ",\n";
}
