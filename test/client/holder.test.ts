import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { type Holder, holderOf } from "../../src/client/holder.ts";

async function heldBy(listener: RequestListener): Promise<Holder> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    return await holderOf((server.address() as AddressInfo).port);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

const OURS = { "Cross-Origin-Resource-Policy": "same-origin" };

test("our own health answer tells an agent-bridge", async () => {
  assert.equal(await heldBy((_, response) => response.writeHead(200, OURS).end('{"ok":true}')), "agent-bridge");
});

test("another program that answers, anything or without end, is another program", async () => {
  assert.equal(await heldBy((_, response) => response.end('{"ok":true}')), "other");
  assert.equal(await heldBy((_, response) => response.writeHead(200, OURS).end("<p>hello")), "other");
  assert.equal(await heldBy((_, response) => response.writeHead(200, OURS).write("x".repeat(100_000))), "other");
  assert.equal(await heldBy((request) => request.socket.destroy()), "other");
});

test("who does not answer is silent, and a free port is nobody's", async () => {
  assert.equal(await heldBy(() => {}), "silent");
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  assert.equal(await holderOf(port), "nobody");
});
