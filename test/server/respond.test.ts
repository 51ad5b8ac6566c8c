import assert from "node:assert/strict";
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { EpochMs } from "../../src/platform/clock.ts";
import { Failure, type FailureKind } from "../../src/platform/failure.ts";
import { stampOf } from "../../src/platform/files.ts";
import type { Answer, Validity } from "../../src/server/route.ts";
import { COOKIE, plainRoute, type Received, serve } from "./harness.ts";

function failing(error: unknown): () => Answer {
  return () => {
    throw error;
  };
}

test("each kind of failure has its status, and its message is all that is said", async (t) => {
  const table: readonly (readonly [kind: FailureKind, status: number])[] = [
    ["bad-request", 400],
    ["usage", 400],
    ["forbidden", 403],
    ["not-found", 404],
    ["method-not-allowed", 405],
    ["conflict", 409],
    ["body-too-large", 413],
    ["url-too-long", 414],
    ["unsupported-media-type", 415],
    ["unreadable", 409],
    ["failed", 500],
  ];
  const cause = new Error("/home/somebody/secret");
  const server = await serve(
    t,
    table.map(([kind]) => plainRoute(`/${kind}`, failing(new Failure(kind, `this is ${kind}`, cause)))),
  );
  for (const [kind, status] of table) {
    const answer = await server.ask(`/${kind}`);
    assert.deepEqual([answer.status, answer.body], [status, `{"error":"this is ${kind}"}`]);
    assert.equal(answer.headers["content-type"], "application/json; charset=utf-8");
  }
});

test("an unforeseen error tells the client nothing, and the log where but not what", async (t) => {
  const server = await serve(t, [
    plainRoute("/a", () => JSON.parse('{"secret": content')),
    plainRoute("/b", failing("a text")),
    plainRoute("/api/c/:name", failing(new TypeError("/home/somebody/secret"))),
  ]);
  for (const path of ["/a", "/b", "/api/c/secret"]) {
    const { status, body } = await server.ask(path, { headers: COOKIE });
    assert.deepEqual([status, body], [500, '{"error":"something went wrong inside agent-bridge; its log says where"}']);
  }
  assert.deepEqual(
    server.log.map(({ level, route, status }) => [level, route, status]),
    [
      ["error", "/a", 500],
      ["error", "/b", 500],
      ["error", "/api/c/:name", 500],
    ],
  );
  assert.match(server.log[0]?.msg ?? "", /SyntaxError at .*respond\.test\.ts/);
  assert.match(server.log[1]?.msg ?? "", /threw a string$/);
  assert.doesNotMatch(server.log.map(({ msg }) => msg).join(), /secret/);
});

test("an error in the middle of a stream ends it and is logged", async (t) => {
  const server = await serve(t, [
    plainRoute("/stream", () => ({
      kind: "events",
      events: (async function* () {
        yield { data: 1 };
        throw new TypeError("no");
      })(),
    })),
  ]);
  assert.equal((await server.ask("/stream")).body, "data: 1\n\n");
  assert.deepEqual(
    server.log.map(({ level, route }) => [level, route]),
    [["error", "/stream"]],
  );
});

test("every answer has the security headers", async (t) => {
  const html: Answer = { kind: "text", type: "text/html; charset=utf-8", body: "<p>" };
  const valid = { facts: ["1"], uses: [], settled: true };
  const server = await serve(
    t,
    [
      plainRoute("/json"),
      plainRoute("/valid", () => ({ kind: "json", body: 1, validity: valid })),
      plainRoute("/html", () => html),
      plainRoute("/move", () => ({ ...html, status: 302, headers: { Location: "/" } })),
      plainRoute("/events", () => ({ kind: "events", events: (async function* () {})() })),
      plainRoute("/fault", failing(new Error("no"))),
      plainRoute("/api/key"),
    ],
    { assets: [{ path: "/assets/a.css", type: "text/css; charset=utf-8", body: "a {}" }] },
  );
  const etag = (await server.ask("/valid")).headers.etag ?? "";
  const table: readonly (readonly [answer: Promise<Received>, status: number, caching: string])[] = [
    [server.ask("/json"), 200, "no-store"],
    [server.ask("/valid"), 200, "private, no-cache"],
    [server.ask("/valid", { headers: { "if-none-match": etag } }), 304, "private, no-cache"],
    [server.ask("/html"), 200, "no-store"],
    [server.ask("/move"), 302, "no-store"],
    [server.ask("/events"), 200, "no-cache, no-transform, no-store"],
    [server.ask("/assets/a.css"), 200, "private, no-cache"],
    [server.ask("/fault"), 500, "no-store"],
    [server.ask("/api/key"), 403, "no-store"],
    [server.ask("/nothing"), 404, "no-store"],
    [server.ask("/json", { method: "HEAD" }), 405, "no-store"],
    [server.ask("/json", { method: "OPTIONS", headers: { origin: "http://evil.example" } }), 405, "no-store"],
    [server.ask(`/${"a".repeat(9_000)}`), 414, "no-store"],
  ];
  for (const [asked, status, caching] of table) {
    const answer = await asked;
    assert.equal(answer.status, status);
    assert.equal(answer.headers["cache-control"], caching);
    assert.equal(answer.headers["x-content-type-options"], "nosniff");
    assert.equal(answer.headers["cross-origin-resource-policy"], "same-origin");
    const foreign = Object.keys(answer.headers).filter((name) => /^access-control|^x-powered-by|^server$/.test(name));
    assert.deepEqual(foreign, []);
  }
});

test("HTML runs nothing inline, loads nothing foreign and is framed by nobody", async (t) => {
  const server = await serve(t, [
    plainRoute("/", () => ({ kind: "text", type: "text/html", body: "<p>", status: 403 })),
  ]);
  const { headers } = await server.ask("/");
  assert.equal(
    headers["content-security-policy"],
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types agent-bridge",
  );
  assert.equal(headers["referrer-policy"], "no-referrer");
});

test("an unchanged answer is a 304 without its handler, until a file or a fact changes", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "agent-bridge-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "a");
  const write = (content: string, time: number): void => {
    writeFileSync(file, content);
    utimesSync(file, time, time);
  };
  write("one", 1_000);
  let calls = 0;
  let generation = 1;
  const server = await serve(t, [
    plainRoute("/api/page", () => {
      calls++;
      const stamp = stampOf(file);
      const facts = [String(generation)];
      const validity: Validity = {
        uses: stamp === undefined ? [] : [stamp],
        facts,
        factsNow: () => [String(generation)],
        settled: true,
      };
      return { kind: "json", body: calls, validity };
    }),
  ]);
  const poll = async (etag?: string): Promise<Received> =>
    server.ask("/api/page", { headers: { ...COOKIE, ...(etag !== undefined && { "if-none-match": etag }) } });

  const first = await poll();
  const etag = first.headers.etag ?? "";
  assert.deepEqual([first.status, first.body], [200, "1"]);
  const same = await poll(`"other", ${etag}`);
  assert.deepEqual([same.status, same.body, same.headers.etag], [304, "", etag]);
  assert.deepEqual([same.headers["content-type"], same.headers["content-length"]], [undefined, undefined]);
  assert.equal((await poll("*")).status, 304);
  assert.equal(calls, 1);
  assert.equal((await poll('"other"')).body, "2");

  write("three", 2_000);
  const grown = await poll(etag);
  assert.deepEqual([grown.status, grown.body], [200, "3"]);
  assert.equal((await poll(grown.headers.etag)).status, 304);
  assert.equal(calls, 3);

  generation = 2;
  assert.equal((await poll(grown.headers.etag)).status, 200);
  assert.equal((await server.ask("/api/page", { headers: { "if-none-match": "*" } })).status, 403);
});

test("an answer whose facts can't be asked again is made, and is a 304 all the same", async (t) => {
  let calls = 0;
  const server = await serve(t, [
    plainRoute("/a", () => {
      calls++;
      return { kind: "json", body: 1, validity: { facts: ["x"], uses: [], settled: true } };
    }),
  ]);
  const { headers } = await server.ask("/a");
  assert.equal((await server.ask("/a", { headers: { "if-none-match": headers.etag ?? "" } })).status, 304);
  assert.equal(calls, 2);
});

test("a file written just before the handler looked gives no ETag, however long the handler took", async (t) => {
  let now = 1_796_000_000_040;
  const mtimeNs = 1_796_000_000_000_000_000n;
  const stamp = { path: "/a", dev: 1n, ino: 1n, size: 1, mtimeNs, ctimeNs: mtimeNs };
  const slow = plainRoute("/slow", () => {
    now += 1_000;
    return { kind: "json", body: 1, validity: { uses: [stamp], settled: true } };
  });
  const server = await serve(t, [slow], { clock: { now: () => now as EpochMs } });
  assert.equal((await server.ask("/slow")).headers.etag, undefined);
  assert.notEqual((await server.ask("/slow")).headers.etag, undefined);
});

test("an answer that may still change, or that made something, has no ETag", async (t) => {
  const validity = { facts: ["x"], uses: [], settled: true };
  const server = await serve(t, [
    plainRoute("/unsettled", () => ({ kind: "json", body: 1, validity: { ...validity, settled: false } })),
    plainRoute("/api/made", () => ({ kind: "json", status: 201, body: 1, validity }), { method: "POST" }),
  ]);
  const unsettled = await server.ask("/unsettled", { headers: { "if-none-match": "*" } });
  assert.deepEqual([unsettled.status, unsettled.headers.etag], [200, undefined]);
  const headers = { ...COOKIE, "content-type": "application/json", "if-none-match": "*" };
  const made = await server.ask("/api/made", { method: "POST", headers });
  assert.deepEqual([made.status, made.headers.etag], [201, undefined]);
});
