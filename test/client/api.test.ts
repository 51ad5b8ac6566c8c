import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { callServer, pathOf, type ServerAddress, serverEvents } from "../../src/client/api.ts";
import { EventReader, type ServerEvent } from "../../src/client/event-reader.ts";
import { Failure } from "../../src/platform/failure.ts";
import type { SseEvent } from "../../src/server/route.ts";
import { formatEvent } from "../../src/server/sse.ts";
import { KEY, plainRoute, serve } from "../server/harness.ts";

/** The address of a server that is not ours. */
async function serverThat(t: TestContext, listener: RequestListener): Promise<ServerAddress> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: KEY };
}

/** The failure of `call`. */
async function failureOf(call: Promise<unknown>): Promise<Failure> {
  const error = await call.then(
    () => assert.fail("did not fail"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Failure, String(error));
  return error;
}

async function all(events: AsyncIterable<ServerEvent>): Promise<ServerEvent[]> {
  const taken: ServerEvent[] = [];
  for await (const event of events) taken.push(event);
  return taken;
}

test("a call carries the key and a JSON body, and gives the answer", async (t) => {
  const routes = [
    plainRoute("/api/echo", ({ body }) => ({ kind: "json", status: 201, body: { body } }), { method: "POST" }),
    plainRoute("/api/echo/:name", ({ params }) => ({ kind: "json", body: params })),
    plainRoute("/api/gone", () => ({ kind: "json", body: { gone: true } }), { method: "DELETE" }),
  ];
  const { url } = await serve(t, routes);
  const server = { url, key: KEY };
  assert.deepEqual(await callServer(server, "POST", "/api/echo", { text: "é\u2028" }), { body: { text: "é\u2028" } });
  assert.deepEqual(await callServer(server, "POST", "/api/echo"), { body: {} });
  assert.deepEqual(await callServer(server, "DELETE", "/api/gone"), { gone: true });
  const name = "a/b c%2f?#é..";
  assert.deepEqual(await callServer(server, "GET", pathOf("", "api", "echo", name)), { name });
});

test("a refusal is a failure of its kind in the server's own words", async (t) => {
  const server = await serverThat(t, (request, response) => {
    response.writeHead(Number(request.url?.slice(1)));
    response.end('{"error":"this is why"}');
  });
  for (const [status, kind] of [
    [400, "bad-request"],
    [404, "not-found"],
    [409, "conflict"],
    [413, "body-too-large"],
    [500, "failed"],
    [302, "failed"],
  ] as const) {
    const { kind: told, message } = await failureOf(callServer(server, "GET", `/${status}`));
    assert.deepEqual([told, message], [kind, "this is why"]);
    assert.equal((await failureOf(all(serverEvents(server, `/${status}`, { signal: t.signal })))).kind, kind);
  }
});

test("a key that the server does not take is told with what to do, and the key is not said", async (t) => {
  const { url } = await serve(t, [plainRoute("/api/any")]);
  const failure = await failureOf(callServer({ url, key: "f".repeat(48) }, "GET", "/api/any"));
  assert.equal(failure.kind, "forbidden");
  assert.equal(failure.message, "the server does not take the key of this home: try again, or restart the server");
});

test("no server, an answer that is none, and one that breaks off are told", async (t) => {
  const gone = await serverThat(t, () => {});
  const dead = createServer().listen(0, "127.0.0.1");
  await once(dead, "listening");
  const { port } = dead.address() as AddressInfo;
  dead.close();
  await once(dead, "close");
  const nobody = await failureOf(callServer({ url: `http://127.0.0.1:${port}`, key: KEY }, "GET", "/api/x"));
  assert.equal(nobody.message, "the server is gone: start it with agent-bridge serve");
  const late = await failureOf(callServer(gone, "GET", "/api/x", undefined, { patienceMs: 20 }));
  assert.match(late.message, /took too long/);
  const odd = await serverThat(t, (_, response) => response.end("<p>hello"));
  assert.match((await failureOf(callServer(odd, "GET", "/"))).message, /no JSON/);
  const broken = await serverThat(t, (request, response) => {
    response.writeHead(200, { "Content-Length": 100 });
    response.write("data: 1\n\n", () => request.socket.destroy());
  });
  assert.match((await failureOf(callServer(broken, "GET", "/"))).message, /broke off/);
  assert.match((await failureOf(all(serverEvents(broken, "/", { signal: t.signal })))).message, /broke off/);
  const plain = await serverThat(t, (_, response) => response.writeHead(502).end("bad gateway"));
  assert.match((await failureOf(callServer(plain, "GET", "/"))).message, /status 502/);
});

test("a call that is left fails with the signal's reason", async (t) => {
  const silent = await serverThat(t, () => {});
  const left = new AbortController();
  const call = callServer(silent, "POST", "/", {}, { signal: left.signal, patienceMs: Number.POSITIVE_INFINITY });
  left.abort(new Failure("failed", "left"));
  assert.equal((await failureOf(call)).message, "left");
  assert.equal((await failureOf(callServer(silent, "GET", "/", undefined, { signal: left.signal }))).message, "left");
});

test("a stream gives its events as they were sent, ends with the server, and names the last one it had", async (t) => {
  const sent: readonly SseEvent[] = [
    { data: { a: "line\nbreak" } },
    { event: "reset", id: "7", data: "two\r\nlines\n" },
    { id: "8", data: "" },
    { data: " leading space, é 😀" },
  ];
  const asked: (string | undefined)[] = [];
  const { url } = await serve(t, [
    plainRoute("/api/stream", ({ lastEventId }) => {
      asked.push(lastEventId);
      return {
        kind: "events",
        events: (async function* () {
          yield* sent;
        })(),
      };
    }),
  ]);
  const { signal } = t;
  assert.deepEqual(await all(serverEvents({ url, key: KEY }, "/api/stream", { signal, lastEventId: "6" })), [
    { data: '{"a":"line\\nbreak"}' },
    { event: "reset", id: "7", data: "two\nlines\n" },
    { id: "8", data: "" },
    { data: " leading space, é 😀" },
  ]);
  await all(serverEvents({ url, key: KEY }, "/api/stream", { signal }));
  assert.deepEqual(asked, ["6", undefined]);
});

test("a stream that is left ends, by its signal and by its loop, and the server is told", async (t) => {
  let open = 0;
  const server = await serverThat(t, (request, response) => {
    open++;
    request.socket.once("close", () => open--);
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write("data: 1\n\n");
  });
  const left = new AbortController();
  const events = serverEvents(server, "/", { signal: left.signal });
  assert.deepEqual((await events.next()).value, { data: "1" });
  const ended = events.next();
  left.abort();
  assert.equal((await ended).done, true);
  for await (const event of serverEvents(server, "/", { signal: t.signal })) {
    assert.equal(event.data, "1");
    break;
  }
  assert.deepEqual(await all(serverEvents(server, "/", { signal: left.signal })), []);
  while (open > 0) await new Promise((resolve) => setTimeout(resolve, 5));
});

test("events are the same wherever their bytes are cut, with every end of a line", () => {
  const one = [
    ": comment\n\n",
    formatEvent({ id: "1", event: "a", data: "x\ny" }),
    "data:no space\r\rid: 2\r\ndata\r\ndata: é😀\r\n\r\n",
    "unknown: 1\nid: a\0b\nevent: b\n\n",
    "data: last\n\ndata: never ended",
  ].join("");
  const bytes = Buffer.from(one);
  const whole = [...new EventReader().take(bytes)];
  assert.deepEqual(whole, [
    { id: "1", event: "a", data: "x\ny" },
    { data: "no space" },
    { id: "2", data: "\né😀" },
    { data: "last" },
  ]);
  for (let cut = 0; cut <= bytes.length; cut++) {
    const reader = new EventReader();
    assert.deepEqual([...reader.take(bytes.subarray(0, cut)), ...reader.take(bytes.subarray(cut))], whole, `${cut}`);
  }
  const slowly = new EventReader();
  assert.deepEqual(
    [...bytes].flatMap((byte) => [...slowly.take(Uint8Array.of(byte))]),
    whole,
  );
});

test("a name that no URL can hold names nothing", () => {
  assert.throws(
    () => pathOf("", "api", "\ud800"),
    (error) => error instanceof Failure && error.kind === "not-found",
  );
});
