import assert from "node:assert/strict";
import type { ExportDocument } from "../../src/export/document.ts";
import type { ExportedMessage, ExportMeta } from "../../src/export/model.ts";

/** An export in JSON, parsed. */
export interface ReadExport {
  readonly meta: ExportMeta;
  readonly messages: readonly ExportedMessage[];
}

/** The text of a document, which is then closed. It is as long as it says. */
export async function textOf(document: ExportDocument): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of document.bytes()) parts.push(part);
  await document.close();
  const bytes = Buffer.concat(parts);
  assert.equal(bytes.length, document.size);
  return bytes.toString("utf8");
}

/** What an export in JSON says. */
export async function readExport(document: ExportDocument): Promise<ReadExport> {
  return JSON.parse(await textOf(document));
}
