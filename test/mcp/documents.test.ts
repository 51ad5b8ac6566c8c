import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ExportDocument } from "../../src/export/document.ts";
import { Documents, pieceFrom } from "../../src/mcp/documents.ts";

/** A document of these chunks, that notes whether it was closed. */
function documentOf(text: string, chunk = 7) {
  const bytes = Buffer.from(text);
  const state = { isClosed: false };
  const document: ExportDocument = {
    ...{ type: "text/markdown", headers: {}, fileName: "x.md", source: "native", size: bytes.length },
    async *bytes() {
      for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk);
    },
    async close() {
      state.isClosed = true;
    },
  };
  return { document, state };
}

test("the pieces of a document are the document, whatever it holds and however large they are", async () => {
  const line = fc.string({ unit: "grapheme", maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(line),
      fc.integer({ min: 2, max: 100 }),
      fc.integer({ min: 1, max: 50 }),
      async (lines, most, chunk) => {
        const text = lines.join("\n");
        const { document } = documentOf(text, chunk);
        let whole = "";
        for (let from = 0; from < document.size; ) {
          const piece = await pieceFrom(document, from, most);
          assert.ok(piece.to > from && piece.text.length <= most);
          assert.doesNotMatch(piece.text, /\ufffd/);
          whole += piece.text;
          from = piece.to;
        }
        assert.equal(whole, text.replaceAll("\ufffd", ""));
      },
    ),
  );
});

test("a piece ends with a line, unless that would make it small", async () => {
  const { document } = documentOf(`${"a".repeat(60)}\n${"b".repeat(60)}\n`);
  assert.equal((await pieceFrom(document, 0, 100)).text, `${"a".repeat(60)}\n`);
  assert.equal((await pieceFrom(document, 0, 200)).text.length, 122);
  assert.equal((await pieceFrom(document, 61, 50)).text, "b".repeat(50));
});

test("the documents that were read last are held, and all are given back in the end", async () => {
  const documents = new Documents();
  const made = Array.from({ length: 5 }, () => documentOf("text"));
  const keys: string[] = [];
  for (const { document } of made) {
    keys.push(await documents.add(document));
    documents.get(keys[0] ?? "");
  }
  assert.deepEqual(
    made.map(({ state }) => state.isClosed),
    [false, true, false, false, false],
  );
  assert.throws(() => documents.get(keys[1] ?? ""), { kind: "conflict" });
  await documents.close();
  assert.ok(made.every(({ state }) => state.isClosed));
});
