import { createHash } from "node:crypto";
import { EXPORT_FORMATS, type ExportDocument } from "../export/document.ts";
import { Failure } from "../platform/failure.ts";
import { asArray, asNumber, asString, asText, parseJson } from "../platform/read.ts";
import type { AskedExport } from "../routes/export-desk.ts";
import { EXPORT_SOURCES } from "../routes/export-source.ts";

/** A document of which more is to be read: all that makes it again, and tells whether what is made is the same. */
export interface Continued {
  /** The session, as `agent/id`, and the subagent of it. */
  readonly session: string;
  readonly child: string | undefined;
  readonly asked: AskedExport;
  /** Says which document it is: its digest. */
  readonly digest: string;
  /** Bytes of it that were told. */
  readonly from: number;
}

/** The cursor of the next piece. */
export function exportCursor({ session, child, asked, digest, from }: Continued): string {
  const { format, source, subagents, reasoning, maxToolChars = 0 } = asked;
  const flags = Number(subagents) + 2 * Number(reasoning);
  const fields = [session, child ?? "", format, source, flags, maxToolChars, digest];
  return `${Buffer.from(JSON.stringify(fields)).toString("base64url")}.${from}`;
}

/** What a cursor goes on with. @throws Failure bad-request: it was never given out */
export function continuedBy(cursor: string): Continued {
  const [, written = "", from] = /^([\w-]+)\.(\d{1,15})$/.exec(cursor) ?? [];
  const [session, child, format, source, flags, most, digest] = fieldsOf(written);
  const asFormat = EXPORT_FORMATS.find((each) => each === format);
  const asSource = EXPORT_SOURCES.find((each) => each === source);
  const known = asText(session);
  const bits = asNumber(flags) ?? 0;
  const maxToolChars = asNumber(most) ?? 0;
  if (known === undefined || asFormat === undefined || asSource === undefined) throw neverGiven();
  return {
    session: known,
    child: asText(child),
    asked: {
      ...{ format: asFormat, source: asSource, subagents: (bits & 1) > 0, reasoning: (bits & 2) > 0 },
      ...(maxToolChars > 0 && { maxToolChars }),
    },
    digest: asString(digest) ?? "",
    from: Number(from),
  };
}

/** Tells a document from every other. @throws the signal's reason */
export async function digestOf(document: ExportDocument, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of document.bytes()) {
    signal.throwIfAborted();
    hash.update(chunk);
  }
  return hash.digest("base64url").slice(0, 22);
}

function fieldsOf(written: string): readonly unknown[] {
  try {
    return asArray(parseJson(Buffer.from(written, "base64url").toString())) ?? [];
  } catch {
    return [];
  }
}

function neverGiven(): Failure {
  return new Failure("bad-request", "cursor must be the next of an earlier answer");
}
