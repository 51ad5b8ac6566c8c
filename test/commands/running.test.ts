import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { isServerAt } from "../../src/client/holder.ts";
import { bridgeOfThisMachine } from "../../src/commands/wiring.ts";
import { proofOf } from "../../src/platform/boot-proof.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { environmentFrom } from "../../src/platform/environment.ts";
import { startOf } from "../../src/platform/process-identity.ts";
import { type RuntimeNotice, writeNotice } from "../../src/platform/runtime-notice.ts";
import { healthRoute } from "../../src/routes/health.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { plainRoute, serve, type TestServer } from "../server/harness.ts";
import { PROGRAM } from "./fake.ts";

const OURS = "0f".repeat(16);
const ANOTHER = "ab".repeat(16);

function serverOf(t: TestContext, bootNonce: string): Promise<TestServer> {
  return serve(t, [healthRoute(bootNonce)]);
}

/** The server that is taken to run on a home with this notice in it. */
async function runningWith(t: TestContext, notice: Partial<RuntimeNotice>): Promise<RuntimeNotice | undefined> {
  const folder = temporaryFolder(t);
  const environment = environmentFrom({ home: folder, bridgeHome: folder });
  await writeNotice(folder, { url: "", port: 1, pid: process.pid, bootNonce: OURS, ...notice });
  const bridge = bridgeOfThisMachine({ program: PROGRAM, clock: systemClock, pid: process.pid, warn: () => {} });
  return bridge.running(environment);
}

test("a server proves which one it is; to everyone else its health is the same", async (t) => {
  const { port, ask } = await serverOf(t, OURS);
  assert.equal(await isServerAt(port, OURS), true);
  assert.equal(await isServerAt(port, ANOTHER), false);
  const plain = await ask("/healthz");
  assert.deepEqual([plain.status, plain.body], [200, '{"ok":true}']);
  assert.equal(plain.headers["agent-bridge-proof"], undefined);
  const odd = await ask("/healthz", { headers: { "agent-bridge-challenge": "x" } });
  assert.deepEqual([odd.status, odd.body, odd.headers["agent-bridge-proof"]], [200, '{"ok":true}', undefined]);
  const challenged = await ask("/healthz", { headers: { "agent-bridge-challenge": ANOTHER } });
  assert.equal(challenged.headers["agent-bridge-proof"], proofOf(OURS, ANOTHER));
  assert.doesNotMatch(JSON.stringify(challenged), new RegExp(OURS));
});

test("a proof that is heard once proves nothing the next time", async (t) => {
  const replayed = proofOf(OURS, ANOTHER) ?? "";
  const answer = { kind: "json" as const, body: { ok: true }, headers: { "agent-bridge-proof": replayed } };
  const { port } = await serve(t, [plainRoute("/healthz", () => answer)]);
  assert.equal(await isServerAt(port, OURS), false);
});

test("a notice that was left behind is not a server that runs, whoever has its port and its process's number now", async (t) => {
  const { port } = await serverOf(t, ANOTHER);
  assert.equal(await runningWith(t, { port }), undefined);
  assert.equal(await runningWith(t, { port, start: startOf(process.pid) }), undefined);
  const own = await serverOf(t, OURS);
  assert.equal((await runningWith(t, { port: own.port }))?.bootNonce, OURS);
});
