import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../src/platform/failure.ts";
import { COOKIE, KEY, plainRoute, serve, type TestServer } from "./harness.ts";

const number = {
  description: "a number",
  schema: { type: "integer" },
  read: ([text = ""]: readonly string[]) => {
    if (!/^\d+$/.test(text)) throw new Failure("bad-request", "n is no number");
    return Number(text);
  },
};

const routes = [
  plainRoute("/open", ({ withKey }) => ({ kind: "json", body: { withKey: withKey ?? false } })),
  plainRoute("/api/read", ({ query, origin }) => ({ kind: "json", body: { query, origin } }), { query: { n: number } }),
  plainRoute("/api/write", ({ body }) => ({ kind: "json", status: 202, body: { got: body ?? null } }), {
    method: "POST",
  }),
  plainRoute("/api/gone", undefined, { method: "DELETE" }),
];

const JSON_BODY = { ...COOKIE, "content-type": "application/json" };

async function statusOf(server: TestServer, ...request: Parameters<TestServer["ask"]>): Promise<number> {
  const { status, body } = await server.ask(...request);
  if (status >= 400) assert.deepEqual(Object.keys(JSON.parse(body)), ["error"]);
  return status;
}

test("only this machine's own names are answered", async (t) => {
  const server = await serve(t, routes);
  const table: readonly (readonly [host: string, status: number])[] = [
    ["127.0.0.1", 200],
    ["127.0.0.1:4777", 200],
    ["127.0.0.1:1", 200],
    ["localhost", 200],
    ["LocalHost:9999", 200],
    ["localhost.", 200],
    ["localhost.:4777", 200],
    ["127.0.0.1.", 200],
    ["[::1]", 200],
    ["[::1]:4777", 200],
    ["localhost..", 403],
    ["localhost:", 403],
    ["localhost:abc", 403],
    ["localhost:4777:1", 403],
    ["localhost:4777@evil.example", 403],
    ["localhost.evil.example", 403],
    ["evil.example", 403],
    ["evil.example:4777", 403],
    ["evil.localhost", 403],
    ["127.0.0.1.evil.example", 403],
    ["127.0.0.2", 403],
    ["127.1", 403],
    ["0.0.0.0", 403],
    ["2130706433", 403],
    ["::1", 403],
    ["[::]", 403],
    ["[::ffff:127.0.0.1]", 403],
    ["user@localhost", 403],
    ["localhost/", 403],
    ["localhost,evil.example", 403],
  ];
  for (const [host, status] of table)
    assert.equal(await statusOf(server, "/open", { headers: { host } }), status, host);
});

test("a refused host is told what is allowed, and the log says it", async (t) => {
  const server = await serve(t, routes);
  const { body } = await server.ask("/open", { headers: { host: 'evil.example"\\' } });
  const error = 'this server answers to 127.0.0.1, localhost and [::1] only, and was asked for "evil.example??"';
  assert.deepEqual(JSON.parse(body), { error });
  assert.deepEqual(
    server.log.map(({ level, msg, status }) => ({ level, msg, status })),
    [{ level: "warn", msg: error, status: 403 }],
  );
});

test("what another site's page asks for is refused on every route, by the browser's word", async (t) => {
  const server = await serve(t, routes);
  const table: readonly (readonly [site: string | string[], status: number])[] = [
    ["none", 200],
    ["same-origin", 200],
    ["cross-site", 403],
    ["same-site", 403],
    ["Cross-Site", 403],
    ["none, cross-site", 403],
    [["none", "same-site"], 403],
  ];
  for (const [site, status] of table) {
    const headers = { "sec-fetch-site": site };
    assert.equal(await statusOf(server, "/open", { headers }), status, String(site));
    assert.equal(await statusOf(server, "/api/read", { headers: { ...headers, ...COOKIE } }), status, String(site));
  }
  assert.equal(await statusOf(server, "/nothing", { headers: { "sec-fetch-site": "cross-site" } }), 403);
});

test("the API needs the key in the cookie ab_ui", async (t) => {
  const server = await serve(t, routes);
  const other = "f".repeat(48);
  const table: readonly (readonly [cookie: string | string[], status: number])[] = [
    [`ab_ui=${KEY}`, 200],
    [`theme=dark; ab_ui=${KEY}; x=y`, 200],
    [`theme=dark;ab_ui=${KEY}`, 200],
    [` ab_ui = ${KEY} `, 200],
    [`ab_ui=${other}; ab_ui=${KEY}`, 200],
    [`ab_ui=${KEY}; ab_ui=${other}`, 200],
    [["a=b", `ab_ui=${KEY}`], 200],
    ["", 403],
    ["ab_ui", 403],
    ["ab_ui=", 403],
    [`ab_ui=${other}`, 403],
    [`ab_ui=${KEY}0`, 403],
    [`ab_ui=${KEY.slice(1)}`, 403],
    [`ab_ui=${KEY.toUpperCase()}`, 403],
    [`ab_ui="${KEY}"`, 403],
    [`ab_ui=x${KEY}`, 403],
    [`AB_UI=${KEY}`, 403],
    [`xab_ui=${KEY}`, 403],
    [`x=ab_ui=${KEY}`, 403],
    [`ab_ui=${other}; ab_ui=${other}`, 403],
    [KEY, 403],
  ];
  for (const [cookie, status] of table) {
    assert.equal(await statusOf(server, "/api/read", { headers: { cookie } }), status, String(cookie));
  }
  assert.equal(await statusOf(server, "/api/read"), 403);
  assert.equal(await statusOf(server, "/api/read", { headers: { authorization: `Bearer ${KEY}` } }), 403);
  assert.equal(await statusOf(server, `/api/read?ab_ui=${KEY}`), 403);
});

test("an open route is told whether the key came along", async (t) => {
  const server = await serve(t, routes);
  assert.equal((await server.ask("/open")).body, '{"withKey":false}');
  assert.equal((await server.ask("/open", { headers: { cookie: "ab_ui=no" } })).body, '{"withKey":false}');
  assert.equal((await server.ask("/open", { headers: COOKIE })).body, '{"withKey":true}');
});

test("a key that can't be read lets nobody in, and closes no open route", async (t) => {
  const key = (): string => {
    throw new Failure("failed", "the file is damaged");
  };
  const server = await serve(t, routes, { key });
  const { status, body } = await server.ask("/api/read", { headers: COOKIE });
  assert.deepEqual([status, body], [403, '{"error":"the file is damaged"}']);
  assert.equal((await server.ask("/open", { headers: COOKIE })).body, '{"withKey":false}');
});

test("a known path with another method is 405 and says which it has", async (t) => {
  const server = await serve(t, routes);
  const table: readonly (readonly [method: string, path: string, allow: string])[] = [
    ["HEAD", "/open", "GET"],
    ["OPTIONS", "/open", "GET"],
    ["POST", "/api/read", "GET"],
    ["PUT", "/api/read", "GET"],
    ["PATCH", "/api/read", "GET"],
    ["TRACE", "/api/read", "GET"],
    ["PROPFIND", "/api/read", "GET"],
    ["HEAD", "/api/read", "GET"],
    ["DELETE", "/api/read", "GET"],
    ["GET", "/api/write", "POST"],
    ["GET", "/api/gone", "DELETE"],
  ];
  for (const [method, path, allow] of table) {
    const { status, headers } = await server.ask(path, { method });
    assert.deepEqual([status, headers.allow], [405, allow], `${method} ${path}`);
  }
});

test("the checks have one order: host, path, method, key, query", async (t) => {
  const server = await serve(t, routes);
  const evil = { host: "evil.example" };
  assert.equal(await statusOf(server, "/nothing", { headers: evil, method: "POST" }), 403);
  assert.equal(await statusOf(server, "/nothing?x=", { method: "PUT" }), 404);
  assert.equal(await statusOf(server, "/api/read?x=", { method: "PUT" }), 405);
  assert.equal(await statusOf(server, "/api/read?x="), 403);
  assert.equal(await statusOf(server, "/api/read?x=", { headers: COOKIE }), 400);
  assert.equal(await statusOf(server, "/api/write?x=", { method: "POST", headers: COOKIE }), 400);
  assert.equal(await statusOf(server, "/api/write", { method: "POST", headers: COOKIE }), 415);
});

test("a WebSocket is refused, whoever opens it", async (t) => {
  const server = await serve(t, routes);
  const opening = { ...COOKIE, connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
  const headers = { ...opening, "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==", origin: "http://127.0.0.1:1" };
  assert.equal(await statusOf(server, "/api/read", { headers }), 400);
});

test("a change is refused when another origin's page asks for it", async (t) => {
  const server = await serve(t, routes);
  const own = `http://127.0.0.1:${server.port}`;
  const table: readonly (readonly [origin: string | string[], status: number])[] = [
    [own, 202],
    [own.toUpperCase(), 202],
    ["null", 403],
    ["", 403],
    [own.replace("http:", "https:"), 403],
    [own.replace("127.0.0.1", "localhost"), 403],
    ["http://127.0.0.1", 403],
    [`${own}/`, 403],
    [`${own}.evil.example`, 403],
    ["http://evil.example", 403],
    [[own, own], 403],
  ];
  for (const [origin, status] of table) {
    const headers = { ...JSON_BODY, origin };
    assert.equal(await statusOf(server, "/api/write", { method: "POST", headers, body: "{}" }), status, String(origin));
  }
  const tunnelled = { ...JSON_BODY, host: "localhost:9000", origin: "http://localhost:9000" };
  assert.equal(await statusOf(server, "/api/write", { method: "POST", headers: tunnelled, body: "{}" }), 202);
  const foreign = { ...COOKIE, origin: "http://evil.example" };
  assert.equal(await statusOf(server, "/api/gone", { method: "DELETE", headers: foreign }), 403);
  assert.equal(await statusOf(server, "/api/read", { headers: { ...COOKIE, origin: "http://evil.example" } }), 200);
});

test("a query holds known parameters, each once, none empty, well escaped", async (t) => {
  const server = await serve(t, routes);
  const table: readonly (readonly [query: string, status: number, said: string])[] = [
    ["", 200, '{"query":{},'],
    ["?", 200, '{"query":{},'],
    ["?n=12", 200, '{"query":{"n":12},'],
    ["?%6e=%31", 200, '{"query":{"n":1},'],
    ["?n=", 400, '{"error":"the parameter \\"n\\" is empty"}'],
    ["?n", 400, '{"error":"the parameter \\"n\\" is empty"}'],
    ["?n=1&n=1", 400, '{"error":"the parameter \\"n\\" stands more than once"}'],
    ["?n=one", 400, '{"error":"n is no number"}'],
    ["?m=1", 400, '{"error":"unknown parameter \\"m\\"; this route takes: n"}'],
    ["?%3Cb%3E=1", 400, '{"error":"unknown parameter; this route takes: n"}'],
    ["?__proto__=1", 400, '{"error":"unknown parameter \\"__proto__\\"; this route takes: n"}'],
    ["?constructor=1", 400, '{"error":"unknown parameter \\"constructor\\"; this route takes: n"}'],
    ["?n=1&", 400, '{"error":"unknown parameter; this route takes: n"}'],
    ["?=1", 400, '{"error":"unknown parameter; this route takes: n"}'],
    ["?n=1?", 400, '{"error":"n is no number"}'],
    ["?n=%", 400, '{"error":"the query is not percent-encoded as it should be"}'],
    ["?n=%zz", 400, '{"error":"the query is not percent-encoded as it should be"}'],
    ["?n=%ff", 400, '{"error":"the query is not percent-encoded as it should be"}'],
  ];
  for (const [query, status, said] of table) {
    const answer = await server.ask(`/api/read${query}`, { headers: COOKIE });
    assert.deepEqual([answer.status, answer.body.slice(0, said.length)], [status, said], query);
  }
});

test("a parameter that may repeat gives all its texts, and a plus is a space", async (t) => {
  const chat = {
    description: "chats",
    schema: { type: "string" },
    repeats: { most: 3 },
    read: (texts: readonly string[]) => texts,
  };
  const server = await serve(t, [
    plainRoute("/api/many", ({ query }) => ({ kind: "json", body: query }), { query: { chat } }),
  ]);
  const { body } = await server.ask("/api/many?chat=a+b&chat=c%2Bd&chat=e%20f", { headers: COOKIE });
  assert.equal(body, '{"chat":["a b","c+d","e f"]}');
});

test("a URL over 8 KiB is refused, one of 8 KiB is not", async (t) => {
  const server = await serve(t, routes);
  const long = (length: number): string => `/open/${"a".repeat(length - 6)}`;
  assert.equal(await statusOf(server, long(8192)), 404);
  assert.equal(await statusOf(server, long(8193)), 414);
  assert.equal(await statusOf(server, long(8193), { headers: { host: "evil.example" } }), 403);
});

test("a POST carries JSON in UTF-8 of at most 1 MiB", async (t) => {
  const server = await serve(t, routes);
  const most = `"${"a".repeat(1024 * 1024 - 2)}"`;
  const table: readonly (readonly [type: string, body: string | Buffer, status: number])[] = [
    ["application/json", '{"a":1}', 202],
    ["APPLICATION/JSON; charset=UTF-8", '"é"', 202],
    ["application/json", "", 202],
    ["application/json", most, 202],
    ["application/json", `${most} `, 413],
    ["application/json", "a".repeat(5 * 1024 * 1024), 413],
    ["application/json", "{", 400],
    ["application/json", Buffer.from([0x22, 0xff, 0x22]), 400],
    ["", "{}", 415],
    ["text/plain", "{}", 415],
    ["application/jsonp", "{}", 415],
    ["application/json; charset=latin1", "{}", 415],
    ["application/x-www-form-urlencoded", "a=1", 415],
    ["text/plain, application/json", "{}", 415],
    ["multipart/form-data; boundary=application/json", "{}", 415],
  ];
  for (const [type, body, status] of table) {
    const headers = { ...COOKIE, "content-type": type };
    assert.equal(await statusOf(server, "/api/write", { method: "POST", headers, body }), status, type);
  }
  const packed = { ...JSON_BODY, "content-encoding": "gzip" };
  assert.equal(await statusOf(server, "/api/write", { method: "POST", headers: packed, body: "{}" }), 415);
});

test("a body of unknown length is counted while it comes", async (t) => {
  const server = await serve(t, routes);
  const headers = { ...JSON_BODY, "transfer-encoding": "chunked" };
  assert.equal(await statusOf(server, "/api/write", { method: "POST", headers, body: '"ok"' }), 202);
  const body = "a".repeat(3 * 1024 * 1024);
  assert.equal(await statusOf(server, "/api/write", { method: "POST", headers, body }), 413);
});

test("the handler gets the parsed body", async (t) => {
  const server = await serve(t, routes);
  const request = { method: "POST", headers: JSON_BODY };
  assert.equal((await server.ask("/api/write", { ...request, body: '{"a":[1,"é"]}' })).body, '{"got":{"a":[1,"é"]}}');
  assert.equal((await server.ask("/api/write", request)).body, '{"got":null}');
});

test("a DELETE has no body", async (t) => {
  const server = await serve(t, routes);
  assert.equal(await statusOf(server, "/api/gone", { method: "DELETE", headers: COOKIE }), 200);
  const announced = { ...JSON_BODY, "content-length": "2" };
  assert.equal(await statusOf(server, "/api/gone", { method: "DELETE", headers: announced, body: "{}" }), 400);
});

test("a handler sees the server's address as the client wrote it", async (t) => {
  const server = await serve(t, routes);
  const { body } = await server.ask("/api/read", { headers: { ...COOKIE, host: "LocalHost:9000" } });
  assert.equal(body, '{"query":{},"origin":"http://localhost:9000"}');
});
