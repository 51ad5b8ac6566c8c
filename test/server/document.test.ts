import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import type { Answer, DocumentAnswer } from "../../src/server/route.ts";
import { COOKIE, KEY, plainRoute, serve } from "./harness.ts";

/** A document of a test's, and what has become of it. */
interface Watched {
  readonly answer: DocumentAnswer;
  /** Pieces that were read of it. */
  read: number;
  closes: number;
  /** When it is closed. */
  readonly closed: Promise<void>;
}

const PIECE = Buffer.alloc(256 * 1024, "x");

/** A document that says that it has `size` bytes, and gives what `pieces` gives. */
function watched(size: number, pieces: () => Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Watched {
  let close = (): void => {};
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  const body = async function* (): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces()) {
      document.read++;
      yield piece;
    }
  };
  const document: Watched = {
    answer: {
      kind: "document",
      type: "text/markdown; charset=utf-8",
      headers: {},
      size,
      body: body(),
      async close() {
        document.closes++;
        close();
      },
    },
    read: 0,
    closes: 0,
    closed,
  };
  return document;
}

function* many(count: number): Generator<Uint8Array> {
  for (let i = 0; i < count; i++) yield PIECE;
}

/** Asks for the document; its bytes are read when the test says so. */
async function open(port: number, headers: { [name: string]: string } = {}): Promise<IncomingMessage> {
  const request = get({ host: "127.0.0.1", port, path: "/document", headers, agent: false });
  request.on("error", () => {});
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return response;
}

const routeTo = (answer: Answer) => [plainRoute("/document", () => answer), plainRoute("/other")];

test("a document comes whole, with its length and the headers of every answer, and is closed", async (t) => {
  const document = watched(11, () => [Buffer.from("all "), Buffer.from("of "), Buffer.from("it.\n")]);
  const answer = { ...document.answer, headers: { "Content-Disposition": "attachment" } };
  const server = await serve(t, routeTo(answer));
  const { status, headers, body } = await server.ask("/document");
  assert.deepEqual([status, body, document.closes], [200, "all of it.\n", 1]);
  assert.deepEqual(
    {
      type: headers["content-type"],
      length: headers["content-length"],
      coding: headers["transfer-encoding"],
      caching: headers["cache-control"],
      sniffing: headers["x-content-type-options"],
      policy: headers["cross-origin-resource-policy"],
      disposition: headers["content-disposition"],
      etag: headers.etag,
    },
    {
      type: "text/markdown; charset=utf-8",
      length: "11",
      coding: undefined,
      caching: "no-store",
      sniffing: "nosniff",
      policy: "same-origin",
      disposition: "attachment",
      etag: undefined,
    },
  );
});

test("a document in HTML has a strict policy of its own, else that of every page", async (t) => {
  for (const [headers, policy] of [
    [{ "Content-Security-Policy": "default-src 'none'; sandbox" }, /^default-src 'none'; sandbox$/],
    [
      {},
      /^default-src 'none'; script-src 'self'.*frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types agent-bridge$/,
    ],
  ] as const) {
    const { answer } = watched(1, () => [Buffer.from("x")]);
    const server = await serve(t, routeTo({ ...answer, type: "text/html; charset=utf-8", headers }));
    assert.match(String((await server.ask("/document")).headers["content-security-policy"]), policy);
  }
});

test("a document may be empty", async (t) => {
  const document = watched(0, () => []);
  const server = await serve(t, routeTo(document.answer));
  const { status, headers, body } = await server.ask("/document");
  assert.deepEqual([status, headers["content-length"], body, document.closes], [200, "0", "", 1]);
});

test("of a document whose client takes nothing, no more is read than the connection holds", async (t) => {
  const count = 400;
  const document = watched(count * PIECE.length, () => many(count));
  const server = await serve(t, routeTo(document.answer));
  const response = await open(server.port);
  response.pause();
  let before = -1;
  while (document.read > before) {
    before = document.read;
    for (let i = 0; i < 5; i++) await server.ask("/other");
  }
  assert.ok(document.read < count / 2, `${document.read} of ${count} pieces were read`);
  assert.equal((await text(response)).length, count * PIECE.length);
  assert.deepEqual([document.read, document.closes], [count, 1]);
});

test("other requests are answered while a document is written whose pieces are all at hand", async (t) => {
  let isAnswered = false;
  const pieces = function* (): Generator<Uint8Array> {
    while (!isAnswered) yield Buffer.from("x");
  };
  const document = watched(Number.MAX_SAFE_INTEGER, pieces);
  const server = await serve(t, routeTo(document.answer));
  const response = await open(server.port);
  response.on("error", () => {}).resume();
  assert.equal((await server.ask("/other")).status, 200);
  isAnswered = true;
  await document.closed;
});

test("a document whose client has gone is read no further, and closed", async (t) => {
  const document = watched(Number.MAX_SAFE_INTEGER, () => many(Number.MAX_SAFE_INTEGER));
  const server = await serve(t, routeTo(document.answer));
  const response = await open(server.port);
  response.on("error", () => {}).destroy();
  await document.closed;
  assert.equal((await server.ask("/other")).status, 200);
  assert.equal(document.closes, 1);
});

test("a document whose client goes while it is made is closed unread", async (t) => {
  const document = watched(PIECE.length, () => many(1));
  let asked = (): void => {};
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const making = plainRoute("/document", ({ signal }) => {
    asked();
    return new Promise<Answer>((resolve) => signal.addEventListener("abort", () => resolve(document.answer)));
  });
  const server = await serve(t, [making]);
  const request = get({ host: "127.0.0.1", port: server.port, path: "/document", agent: false });
  request.on("error", () => {});
  await isAsked;
  request.destroy();
  await document.closed;
  assert.deepEqual([document.read, document.closes], [0, 1]);
});

for (const [what, size, pieces] of [
  [
    "can't be read to its end",
    3 * PIECE.length,
    function* (): Generator<Uint8Array> {
      yield PIECE;
      throw new Error("the disk is gone");
    },
  ],
  ["is shorter than it says", 3 * PIECE.length, () => many(2)],
  ["is longer than it says", 2 * PIECE.length + 1, () => many(3)],
] as const) {
  test(`a document that ${what} is cut off, so that it does not look whole, and the log tells`, async (t) => {
    const document = watched(size, pieces);
    const server = await serve(t, routeTo(document.answer));
    const response = await open(server.port);
    await assert.rejects(text(response), { code: "ECONNRESET" });
    await document.closed;
    await server.ask("/other");
    assert.equal(document.closes, 1);
    const told = server.log.find(({ level }) => level === "error");
    assert.equal(told?.route, "/document");
    assert.doesNotMatch(told?.msg ?? "", /disk/);
  });
}

test("a client that takes nothing for long is cut off", async (t) => {
  const document = watched(Number.MAX_SAFE_INTEGER, () => many(Number.MAX_SAFE_INTEGER));
  const server = await serve(t, routeTo(document.answer), { stallMs: 50 });
  const response = await open(server.port);
  response.on("error", () => {}).pause();
  await document.closed;
  assert.equal(document.closes, 1);
});

test("when the server ends, a document that is being written is cut off and closed", async (t) => {
  const document = watched(Number.MAX_SAFE_INTEGER, () => many(Number.MAX_SAFE_INTEGER));
  const server = await serve(t, routeTo(document.answer));
  const response = await open(server.port);
  const rest = assert.rejects(text(response), { code: "ECONNRESET" });
  await server.close();
  await document.closed;
  await rest;
});

test("a client whose key is replaced gets no more of a document", async (t) => {
  let key = KEY;
  const document = watched(Number.MAX_SAFE_INTEGER, () => many(Number.MAX_SAFE_INTEGER));
  const route = plainRoute("/document", () => document.answer, { access: "key" });
  const server = await serve(t, [route], { key: () => key });
  const response = await open(server.port, COOKIE);
  const rest = assert.rejects(text(response), { code: "ECONNRESET" });
  key = "f".repeat(48);
  await document.closed;
  await rest;
});
