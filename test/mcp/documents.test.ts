import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ExportDocument } from "../../src/export/document.ts";
import { Documents, pieceFrom } from "../../src/mcp/documents.ts";
import { continuedBy, digestOf, exportCursor } from "../../src/mcp/export-cursor.ts";

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
  const made = Array.from({ length: 18 }, () => documentOf("text"));
  for (const [n, { document }] of made.entries()) {
    await documents.add(`k${n}`, document);
    assert.equal(await documents.use("k0", async ({ size }) => size), 4);
  }
  const closed = made.flatMap(({ state }, n) => (state.isClosed ? [n] : []));
  assert.deepEqual(closed, [1, 2]);
  assert.equal(await documents.use("k1", async () => 1), undefined);
  await documents.close();
  assert.ok(made.every(({ state }) => state.isClosed));
});

test("so many bytes are held, and what is being read is not closed meanwhile; the same document is held once", async () => {
  const documents = new Documents();
  const large = () => {
    const { document, state } = documentOf("text");
    return { document: { ...document, size: 200 * 1024 * 1024 }, state };
  };
  const [first, same, second] = [large(), large(), large()];
  await documents.add("a", first.document);
  await documents.add("a", same.document);
  assert.deepEqual([first.state.isClosed, same.state.isClosed], [false, true]);
  await documents.use("a", async () => {
    await documents.add("b", second.document);
    assert.equal(first.state.isClosed, false);
  });
  assert.deepEqual([first.state.isClosed, second.state.isClosed], [true, false]);
  await documents.close();
});

test("a cursor says all that makes its document again, and one that was never given is refused", async () => {
  const { document } = documentOf("text");
  const { signal } = new AbortController();
  const digest = await digestOf(document, signal);
  assert.notEqual(digest, await digestOf(documentOf("texts").document, signal));
  for (const [child, asked] of [
    [undefined, { format: "json", source: "auto", subagents: false, reasoning: true }],
    ["c".repeat(128), { format: "markdown", source: "daemon", subagents: true, reasoning: false, maxToolChars: 9 }],
  ] as const) {
    const continued = { session: `claude/${"s".repeat(128)}`, child, asked, digest, from: 12 };
    const cursor = exportCursor(continued);
    assert.ok(cursor.length < 900);
    assert.deepEqual(continuedBy(cursor), continued);
  }
  for (const cursor of ["x", "x.1", "W10.1", `${"A".repeat(500)}.1`]) {
    assert.throws(() => continuedBy(cursor), { kind: "bad-request", message: /^cursor must be the next/ });
  }
});
