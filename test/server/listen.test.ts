import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { test } from "node:test";
import { systemClock } from "../../src/platform/clock.ts";
import { Failure } from "../../src/platform/failure.ts";
import { listen, PortTaken } from "../../src/server/listen.ts";
import { KEY, plainRoute, serve } from "./harness.ts";

test("the server listens on 127.0.0.1 and on no other address", async (t) => {
  const server = await serve(t, [plainRoute("/open")]);
  assert.equal(server.url, `http://127.0.0.1:${server.port}`);
  const others = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ address }) => address !== "127.0.0.1" && !address.startsWith("fe80"));
  for (const { address } of others) {
    const socket = connect(server.port, address);
    const outcome = await Promise.race([
      once(socket, "connect").then(() => "connected"),
      once(socket, "error").then(() => "refused"),
    ]).catch(() => "refused");
    socket.destroy();
    assert.equal(outcome, "refused", address);
  }
});

test("a port in use is an error of its own", async (t) => {
  const first = await serve(t, []);
  const second = listen({
    routes: [],
    port: first.port,
    key: () => KEY,
    version: "1",
    clock: systemClock,
    log: () => {},
  });
  await assert.rejects(second, (error) => error instanceof PortTaken && error.port === first.port);
});

test("a wrong route table stops the start", async () => {
  const start = listen({
    routes: [plainRoute("/a/")],
    port: 0,
    key: () => KEY,
    version: "1",
    clock: systemClock,
    log: () => {},
  });
  await assert.rejects(start, { message: 'route GET /a/: "" is no segment of a pattern' });
});

test("closing waits neither for idle connections, silent ones, half a request, nor a handler that hangs", async (t) => {
  let asked = (): void => {};
  const hanging = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const server = await serve(t, [
    plainRoute("/open"),
    plainRoute("/hang", () => {
      asked();
      return new Promise(() => {});
    }),
  ]);
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const idle = get({ host: "127.0.0.1", port: server.port, path: "/open", agent });
  const [response] = (await once(idle, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");

  const silent = connect(server.port, "127.0.0.1");
  const half = connect(server.port, "127.0.0.1", () => half.write("GET /open HT"));
  const broken = connect(server.port, "127.0.0.1", () =>
    broken.write("GET /hang HTTP/1.1\r\nHost: localhost\r\n\r\nnonsense\r\n\r\n"),
  );
  for (const socket of [silent, half, broken]) socket.on("error", () => {});
  await Promise.all([once(silent, "connect"), once(half, "connect"), hanging]);
  await server.close();
  await assert.rejects(server.ask("/open"), { code: "ECONNREFUSED" });
});

test("an answer that is being made when the server ends is still given", async (t) => {
  let asked = (): void => {};
  const making = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const server = await serve(t, [
    plainRoute("/open", async () => {
      asked();
      await new Promise((resolve) => setTimeout(resolve, 10));
      return { kind: "json", body: "done" };
    }),
  ]);
  const answer = server.ask("/open");
  await making;
  await server.close();
  assert.equal((await answer).body, '"done"');
});

test("a request is logged by its route, without its path or query", async (t) => {
  const noKey = "no key: do this";
  const server = await serve(t, [plainRoute("/a/:name"), plainRoute("/api/b")], { noKey });
  await server.ask("/a/secret");
  await server.ask("/secret?secret=secret");
  await server.ask("/api/b", { headers: { cookie: "ab_ui=secret" } });
  assert.deepEqual(
    server.log.map(({ ms, ...record }) => ({ ...record, timed: typeof ms === "number" })),
    [
      { level: "debug", msg: "request", route: "/a/:name", status: 200, timed: true },
      { level: "debug", msg: "refused: not-found", status: 404, timed: true },
      {
        level: "warn",
        msg: noKey,
        route: "/api/b",
        status: 403,
        timed: true,
      },
    ],
  );
});

test("a refusal that quotes what was sent is logged without its words", async (t) => {
  const refusing = plainRoute("/a", () => {
    throw new Failure("bad-request", 'the agent "secret" is not known');
  });
  const server = await serve(t, [refusing]);
  assert.match((await server.ask("/a")).body, /secret/);
  assert.deepEqual(
    server.log.map(({ level, msg }) => ({ level, msg })),
    [{ level: "debug", msg: "refused: bad-request" }],
  );
});
