import assert from "node:assert/strict";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { COOKIE, KEY, plainRoute, serve } from "./harness.ts";

const routes = [
  plainRoute("/open"),
  plainRoute("/api/write", ({ body }) => ({ kind: "json", body: { got: body } }), { method: "POST" }),
];

/** Status, whether the refusal is the contract's JSON with its headers, and what it says. */
function refusal(answer: string): readonly [status: string, error: string] {
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  const [statusLine = "", ...headers] = head.split("\r\n");
  const names = new Map(headers.map((line) => [line.split(": ")[0]?.toLowerCase(), line.split(": ")[1]]));
  assert.equal(names.get("content-type"), "application/json; charset=utf-8");
  assert.equal(names.get("x-content-type-options"), "nosniff");
  assert.equal(names.get("cross-origin-resource-policy"), "same-origin");
  assert.equal(names.get("cache-control"), "no-store");
  assert.equal(names.get("content-length"), String(Buffer.byteLength(body)));
  const fields = JSON.parse(body) as { error: string };
  assert.deepEqual(Object.keys(fields), ["error"]);
  return [statusLine.split(" ").slice(0, 2).join(" "), fields.error];
}

test("what is no request for a path of this machine gets the contract's JSON", async (t) => {
  const server = await serve(t, routes);
  const end = "Connection: close\r\n\r\n";
  const hosts = "this server answers to 127.0.0.1, localhost and [::1] only, and was asked for";
  const pathOnly = "the request must name a path, beginning with /";
  const notHttp = "this is not an HTTP request";
  const table: readonly (readonly [sent: string, status: number, error: string])[] = [
    [`GET /open HTTP/1.1\r\n${end}`, 403, `${hosts} no host`],
    [`GET /open HTTP/1.1\r\nHost:\r\n${end}`, 403, `${hosts} no host`],
    [`GET /open HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n${end}`, 403, `${hosts} several hosts`],
    [`GET /open HTTP/1.1\r\nHost: localhost\r\nhost: evil.example\r\n${end}`, 403, `${hosts} several hosts`],
    ["GET /open HTTP/1.0\r\n\r\n", 403, `${hosts} no host`],
    [`GET http://127.0.0.1/open HTTP/1.1\r\nHost: 127.0.0.1\r\n${end}`, 400, pathOnly],
    [`GET http://127.0.0.1/open HTTP/1.1\r\nHost: evil.example\r\n${end}`, 403, `${hosts} "evil.example"`],
    [`OPTIONS * HTTP/1.1\r\nHost: localhost\r\n${end}`, 400, pathOnly],
    ["CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, pathOnly],
    ["CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403, `${hosts} "evil.example"`],
    ["CONNECT /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "there is nothing at this path"],
    ["CONNECT /open HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, "this path answers GET only"],
    [`GET //evil.example/open HTTP/1.1\r\nHost: localhost\r\n${end}`, 404, "there is nothing at this path"],
    ["nonsense\r\n\r\n", 400, notHttp],
    ["GET\r\n\r\n", 400, notHttp],
    ["GET /open HTTP/9.9\r\nHost: localhost\r\n\r\n", 400, notHttp],
    ["BREW /open HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, notHttp],
    ["\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400, notHttp],
    ["GET /open HTTP/1.1\r\nHost: local\x00host\r\n\r\n", 400, notHttp],
    ["GET /open HTTP/1.1\r\nHost: localhost\r\n folded\r\n\r\n", 400, notHttp],
    ["GET /open HTTP/1.1\r\nHost : localhost\r\n\r\n", 400, notHttp],
    [
      "POST /api/write HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
      400,
      notHttp,
    ],
    ["POST /api/write HTTP/1.1\r\nHost: localhost\r\nContent-Length: two\r\n\r\n{}", 400, notHttp],
    [`GET /${"a".repeat(9_000)} HTTP/1.1\r\nHost: localhost\r\n${end}`, 414, "the URL is over 8 KiB"],
    [`GET /${"a".repeat(300_000)} HTTP/1.1\r\nHost: localhost\r\n${end}`, 414, "the URL is over 8 KiB"],
    [
      `GET /open HTTP/1.1\r\nHost: localhost\r\nX-Long: ${"a".repeat(140_000)}\r\n${end}`,
      400,
      "the headers are over 128 KiB",
    ],
  ];
  for (const [sent, status, error] of table) {
    assert.deepEqual(refusal(await server.raw(sent)), [`HTTP/1.1 ${status}`, error], sent.slice(0, 80));
  }
});

test("HTTP/1.0 with a Host is answered, and the connection ends", async (t) => {
  const server = await serve(t, routes);
  const answer = await server.raw("GET /open HTTP/1.0\r\nHost: localhost\r\n\r\n");
  assert.match(answer, /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n\{"pattern":"\/open"\}$/);
});

test("pipelined requests are answered in order, and a broken one behind them after them", async (t) => {
  const server = await serve(t, [
    plainRoute("/slow", async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return { kind: "json", body: "slow" };
    }),
    plainRoute("/quick", () => ({ kind: "json", body: "quick" })),
  ]);
  const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  const answer = await server.raw(`${get("/slow")}${get("/quick")}nonsense\r\n\r\n`);
  assert.deepEqual(answer.match(/HTTP\/1\.1 \d+|"slow"|"quick"|"error":"[^"]*"/g), [
    "HTTP/1.1 200",
    '"slow"',
    "HTTP/1.1 200",
    '"quick"',
    "HTTP/1.1 400",
    '"error":"this is not an HTTP request"',
  ]);
});

test("a broken chunk in a body is answered in that request's place", async (t) => {
  const server = await serve(t, routes);
  const head = `POST /api/write HTTP/1.1\r\nHost: localhost\r\nCookie: ab_ui=${KEY}\r\nContent-Type: application/json\r\n`;
  const answer = await server.raw(`${head}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nnonsense\r\n`);
  assert.deepEqual(refusal(answer), ["HTTP/1.1 400", "this is not an HTTP request"]);
});

test("a body that does not come is not waited for", async (t) => {
  const server = await serve(t, routes, { bodyTimeoutMs: 20 });
  const head = `POST /api/write HTTP/1.1\r\nHost: localhost\r\nCookie: ab_ui=${KEY}\r\nContent-Type: application/json\r\n`;
  const socket = connect(server.port, "127.0.0.1", () => socket.write(`${head}Content-Length: 10\r\n\r\n{`));
  const answer = await text(socket);
  assert.deepEqual(refusal(answer), ["HTTP/1.1 400", "the body took too long to arrive"]);
});

test("a client that asks first sends its body only when it is let in", async (t) => {
  const server = await serve(t, routes);
  const head =
    "POST /api/write HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n";
  const refused = await server.raw(`${head}Content-Length: 2\r\n\r\n`);
  assert.equal(refusal(refused)[0], "HTTP/1.1 403");
  const tooLarge = await server.raw(`${head}Cookie: ab_ui=${KEY}\r\nContent-Length: 2000000\r\n\r\n`);
  assert.equal(refusal(tooLarge)[0], "HTTP/1.1 413");

  const socket = connect(server.port, "127.0.0.1", () =>
    socket.write(`${head}Cookie: ab_ui=${KEY}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n`),
  );
  socket.once("data", () => socket.write("{}"));
  const answer = await text(socket);
  assert.match(answer, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n[\s\S]*\{"got":\{\}\}$/);
});

test("a refused request leaves the connection fit for the next one", async (t) => {
  const server = await serve(t, routes);
  const refused = "POST /api/write HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello";
  const answer = await server.raw(`${refused}GET /open HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  assert.deepEqual(answer.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 403", "HTTP/1.1 200"]);
});

test("a request that wants another protocol is answered as HTTP", async (t) => {
  const server = await serve(t, routes);
  const upgrade = "Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n";
  const answer = await server.raw(`GET /open HTTP/1.1\r\nHost: localhost\r\n${upgrade}`);
  assert.match(answer, /^HTTP\/1\.1 200 OK/);
});

test("a client that hangs up at once does no harm", async (t) => {
  const server = await serve(t, routes);
  await new Promise<void>((resolve) => {
    const socket = connect(server.port, "127.0.0.1", () => socket.resetAndDestroy());
    socket.on("close", () => resolve());
  });
  assert.equal((await server.ask("/open", { headers: COOKIE })).status, 200);
});

test("a CONNECT to a path that is there is told what the path takes", async (t) => {
  const server = await serve(t, routes);
  assert.match(await server.raw("CONNECT /open HTTP/1.1\r\nHost: localhost\r\n\r\n"), /\r\nAllow: GET\r\n/);
});

test("no number of headers hides one of them, and many short ones are no fault", async (t) => {
  const server = await serve(t, routes);
  const many = "a: b\r\n".repeat(15_000);
  const end = "Connection: close\r\n\r\n";
  assert.match(await server.raw(`GET /open HTTP/1.1\r\nHost: localhost\r\n${many}${end}`), /^HTTP\/1\.1 200 /);
  assert.match(await server.raw(`GET /open HTTP/1.1\r\n${many}Host: localhost\r\n${end}`), /^HTTP\/1\.1 200 /);
  const second = `GET /open HTTP/1.1\r\nHost: localhost\r\n${many}Host: evil.example\r\n${end}`;
  assert.match(await server.raw(second), /^HTTP\/1\.1 403 /);
  const crossing = `GET /open HTTP/1.1\r\nHost: localhost\r\n${many}Sec-Fetch-Site: cross-site\r\n${end}`;
  assert.match(await server.raw(crossing), /^HTTP\/1\.1 403 /);
});
