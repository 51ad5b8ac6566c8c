import { asArray, asObject, asText, jsonText } from "../platform/read.ts";
import type { ToolCallEntry } from "../transcript/entry.ts";
import type { ExportedMessage, NoticeName } from "./model.ts";

const NAMES: readonly NoticeName[] = ["plan", "permission", "notice"];

/** What a message says of an entry that tells a call where no tool was called. */
export function noticeMessage({ at, tool, summary, input, output }: ToolCallEntry): ExportedMessage {
  const said = planText(input) ?? summary ?? (typeof input === "string" ? input : jsonText(input));
  const marker = NAMES.find((name) => name === tool) ?? "notice";
  return { role: "system", at, marker, text: output === undefined ? said : `${said}: ${output}` };
}

/** The steps of a plan, one a line, below its title. */
function planText(input: unknown): string | undefined {
  const fields = asObject(input);
  const steps = asArray(fields?.plan);
  if (fields === undefined || steps === undefined) return undefined;
  const lines = steps.map((value) => {
    const step = asObject(value);
    const facts = [asText(step?.status), asText(step?.priority)].filter((fact) => fact !== undefined);
    const about = facts.length === 0 ? "" : ` (${facts.join(", ")})`;
    return `- ${asText(step?.content) ?? jsonText(value)}${about}`;
  });
  const title = asText(fields.title);
  return [...(title === undefined ? [] : [title]), ...lines].join("\n");
}
