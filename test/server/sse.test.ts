import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { test } from "node:test";
import { Failure } from "../../src/platform/failure.ts";
import type { Answer, RouteRequest, SseEvent } from "../../src/server/route.ts";
import { formatEvent } from "../../src/server/sse.ts";
import { COOKIE, KEY, plainRoute, serve } from "./harness.ts";

test("an event stands on the wire so that nothing in it can begin another field", () => {
  const table: readonly (readonly [event: SseEvent, wire: string])[] = [
    [{ data: { a: 1 } }, 'data: {"a":1}\n\n'],
    [{ event: "reset", id: "j:1:0", data: null }, "event: reset\nid: j:1:0\ndata: null\n\n"],
    [{ data: { text: "a\nb" } }, 'data: {"text":"a\\nb"}\n\n'],
    [{ data: "a\nb\r\nc\rd\n" }, "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n"],
    [{ data: "" }, "data: \n\n"],
    [{ data: undefined }, "data: \n\n"],
    [{ data: "a\u2028b" }, "data: a\u2028b\n\n"],
    [{ event: "a\ndata: x", id: "1\r\n2\0", data: 1 }, "event: adata: x\nid: 12\ndata: 1\n\n"],
  ];
  assert.deepEqual(
    table.map(([event]) => [event, formatEvent(event)]),
    table,
  );
});

test("events that were put together for many clients are sent as they stand", async (t) => {
  const wire = Buffer.from("id: 1\ndata: 1\n\nid: 2\ndata: 2\n\n");
  const twice = (): Answer => ({
    kind: "events",
    events: (async function* () {
      yield { wire };
      yield { id: "3", data: 3 };
    })(),
  });
  const server = await serve(t, [plainRoute("/stream", twice)]);
  const response = await open(server.port, "/stream");
  let body = "";
  for await (const chunk of response) body += chunk;
  assert.equal(body, `${wire}id: 3\ndata: 3\n\n`);
});

/** Opens a stream; its bytes are read when the test says so. */
async function open(port: number, path: string, headers: { [name: string]: string } = {}): Promise<IncomingMessage> {
  const request = get({ host: "127.0.0.1", port, path, headers, agent: false });
  request.on("error", () => {});
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.on("error", () => {});
  return response;
}

async function firstBytes(response: IncomingMessage): Promise<string> {
  const [chunk] = (await once(response, "data")) as [Buffer];
  return chunk.toString();
}

/** Resolves when the signal aborts. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve());
  });
}

test("a stream's headers come before its first event", async (t) => {
  const waiting = ({ signal }: RouteRequest): Answer => ({
    kind: "events",
    // biome-ignore lint/correctness/useYield: nothing ever happens here.
    events: (async function* () {
      await aborted(signal);
    })(),
  });
  const server = await serve(t, [plainRoute("/stream", waiting)]);
  const response = await open(server.port, "/stream");
  assert.deepEqual(
    [response.statusCode, response.headers["content-type"], response.headers["cache-control"]],
    [200, "text/event-stream; charset=utf-8", "no-cache, no-transform, no-store"],
  );
  response.destroy();
});

test("the handler gets Last-Event-ID", async (t) => {
  const echo = ({ lastEventId }: RouteRequest): Answer => ({
    kind: "events",
    events: (async function* () {
      yield { data: lastEventId ?? null };
    })(),
  });
  const server = await serve(t, [plainRoute("/stream", echo)]);
  assert.equal((await server.ask("/stream", { headers: { "last-event-id": "j:5:0" } })).body, "data: j:5:0\n\n");
  assert.equal((await server.ask("/stream")).body, "data: null\n\n");
});

test("a silent stream sends comments", async (t) => {
  const silent = ({ signal }: RouteRequest): Answer => ({
    kind: "events",
    // biome-ignore lint/correctness/useYield: nothing ever happens here.
    events: (async function* () {
      await aborted(signal);
    })(),
  });
  const server = await serve(t, [plainRoute("/stream", silent)], { keepAliveMs: 5 });
  const response = await open(server.port, "/stream");
  assert.match(await firstBytes(response), /^(: \n\n)+$/);
  response.destroy();
});

test("a client that does not read holds up its own stream, and nothing is queued for it", async (t) => {
  let made = 0;
  let returned = (): void => {};
  const finished = new Promise<void>((resolve) => {
    returned = resolve;
  });
  const piece = "x".repeat(256 * 1024);
  const flood = (): Answer => ({
    kind: "events",
    events: (async function* () {
      try {
        for (;;) {
          made++;
          yield { data: piece };
        }
      } finally {
        returned();
      }
    })(),
  });
  const quick = plainRoute("/quick");
  const server = await serve(t, [plainRoute("/flood", flood), quick]);
  const response = await open(server.port, "/flood");
  response.pause();

  // What fits in the sockets' buffers is made, and then no more, however long others are served.
  let before = -1;
  while (made !== before) {
    before = made;
    for (let i = 0; i < 20; i++) await server.ask("/quick");
  }
  assert.ok(made < 200, `${made} events were made for a client that read none`);

  response.destroy();
  await finished;
});

test("when the client goes, the stream's iterator is returned", async (t) => {
  let returned = (): void => {};
  const finished = new Promise<void>((resolve) => {
    returned = resolve;
  });
  const server = await serve(t, [
    plainRoute("/stream", ({ signal }) => ({
      kind: "events",
      events: (async function* () {
        try {
          yield { data: "first" };
          await aborted(signal);
        } finally {
          returned();
        }
      })(),
    })),
  ]);
  const response = await open(server.port, "/stream");
  assert.equal(await firstBytes(response), "data: first\n\n");
  response.destroy();
  await finished;
});

test("an iterator that does not heed the signal is left behind, and returned", async (t) => {
  let returned = false;
  const events: AsyncIterable<SseEvent> = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise(() => {}),
      return: async () => {
        returned = true;
        return { done: true, value: undefined };
      },
    }),
  };
  const server = await serve(t, [plainRoute("/stream", () => ({ kind: "events", events }))]);
  await open(server.port, "/stream");
  await server.close();
  assert.equal(returned, true);
});

test("200 streams end when the server does", async (t) => {
  let running = 0;
  const server = await serve(t, [
    plainRoute("/stream", ({ signal }) => ({
      kind: "events",
      events: (async function* () {
        running++;
        try {
          yield { data: "first" };
          await aborted(signal);
        } finally {
          running--;
        }
      })(),
    })),
  ]);
  const streams = await Promise.all(Array.from({ length: 200 }, () => open(server.port, "/stream")));
  await Promise.all(streams.map(firstBytes));
  assert.equal(running, 200);
  const ended = Promise.all(streams.map((stream) => once(stream, "end")));
  await server.close();
  await ended;
  assert.equal(running, 0);
  await assert.rejects(server.ask("/stream"), { code: "ECONNREFUSED" });
});

test("a new key ends every stream that was let in with the old one, silent, busy or not read", async (t) => {
  let key = KEY;
  const silent = plainRoute("/api/silent", ({ signal }) => ({
    kind: "events",
    events: (async function* () {
      yield { data: "first" };
      await aborted(signal);
    })(),
  }));
  let told = (): void => {};
  const busy = plainRoute("/api/busy", ({ signal }) => ({
    kind: "events",
    events: (async function* () {
      yield { data: "first" };
      while (!signal.aborted) {
        await new Promise<void>((resolve) => {
          told = resolve;
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
        yield { data: "secret" };
      }
    })(),
  }));
  let left = (): void => {};
  const returned = new Promise<void>((resolve) => {
    left = resolve;
  });
  const flood = plainRoute("/api/flood", () => ({
    kind: "events",
    events: (async function* () {
      try {
        for (;;) yield { data: "x".repeat(256 * 1024) };
      } finally {
        left();
      }
    })(),
  }));
  const server = await serve(t, [silent, busy, flood], { key: () => key, recheckMs: 5 });
  const streams = await Promise.all(["/api/silent", "/api/busy"].map((path) => open(server.port, path, COOKIE)));
  for (const stream of streams) assert.equal(await firstBytes(stream), "data: first\n\n");
  const unread = await open(server.port, "/api/flood", COOKIE);
  unread.pause();
  const received: string[] = [];
  for (const stream of streams) stream.on("data", (chunk: Buffer) => received.push(chunk.toString()));
  const ended = streams.map((stream) => once(stream, "end"));
  key = KEY.replace("0", "f");
  told();
  await Promise.all([...ended, returned]);
  assert.deepEqual(received, []);
  assert.equal((await server.ask("/api/silent", { headers: COOKIE })).status, 403);
});

test("a key that can't be read any more ends streams too; those that need no key go on", async (t) => {
  let readable = true;
  const reader = (): string => {
    if (!readable) throw new Failure("failed", "there is no dashboard key");
    return KEY;
  };
  let more = (): void => {};
  const stream = (path: string) =>
    plainRoute(path, ({ signal }) => ({
      kind: "events",
      events: (async function* () {
        yield { data: "first" };
        await new Promise<void>((resolve) => {
          if (path === "/open") more = resolve;
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
        yield { data: "second" };
      })(),
    }));
  const server = await serve(t, [stream("/api/closed"), stream("/open")], { key: reader, recheckMs: 5 });
  const closed = await open(server.port, "/api/closed", COOKIE);
  const anyones = await open(server.port, "/open");
  assert.equal(await firstBytes(closed), "data: first\n\n");
  assert.equal(await firstBytes(anyones), "data: first\n\n");
  const ended = once(closed.resume(), "end");
  readable = false;
  await ended;
  const second = firstBytes(anyones);
  more();
  assert.equal(await second, "data: second\n\n");
});
