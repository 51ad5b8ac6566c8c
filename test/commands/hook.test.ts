import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { COMMANDS } from "../../src/commands/commands.ts";
import { run } from "../../src/commands/run.ts";
import { Failure, type FailureKind } from "../../src/platform/failure.ts";
import type { RuntimeNotice } from "../../src/platform/runtime-notice.ts";
import { KEY, plainRoute, serve } from "../server/harness.ts";
import { fakeContext } from "./fake.ts";
import { Typist } from "./typist.ts";

const EVENT = { session_id: "s1", hook_event_name: "SessionStart", source: "startup", cwd: "/w" };

interface Hooked {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** The bodies that the server was sent. */
  readonly sent: unknown[];
}

/** Runs the hook with `input` on stdin, on a home whose server refuses joining with `refusal`, or where none runs. */
async function hooked(t: TestContext, input: string, refusal?: FailureKind | "takes it"): Promise<Hooked> {
  const sent: unknown[] = [];
  const join = plainRoute(
    "/api/peers",
    ({ body }) => {
      sent.push(body);
      if (refusal !== undefined && refusal !== "takes it") throw new Failure(refusal, "this is why");
      return { kind: "json", status: 201, body: { name: "claude-w" } };
    },
    { method: "POST" },
  );
  const { url, port } = await serve(t, [join]);
  const notice: RuntimeNotice = { url, port, pid: process.pid, bootNonce: "0".repeat(32) };
  const stdin = new Typist(false);
  stdin.type(input);
  stdin.end();
  const context = fakeContext([], {
    input: stdin,
    bridge: {
      running: async () => (refusal === undefined ? undefined : notice),
      key: async () => KEY,
      thisProcess: () => ({ pid: process.pid, procStart: undefined }),
      histories: async () => ({ stores: [], inventory: {}, tools: {} }) as never,
    },
  });
  const code = await run(context, COMMANDS, ["hook", "claude"]);
  return { code, ...context.terminal.written, sent };
}

test("on a terminal hook claude prints settings that run this very program", async () => {
  const context = fakeContext([]);
  assert.equal(await run(context, COMMANDS, ["hook", "claude"]), 0);
  const words = "node /opt/agent-bridge.mjs hook claude";
  const hooks = [{ hooks: [{ type: "command", command: words }] }];
  assert.deepEqual(JSON.parse(context.terminal.written.out), { hooks: { SessionStart: hooks, SessionEnd: hooks } });
});

test("a session that starts joins by its id, folder and process", async (t) => {
  const { code, out, err, sent } = await hooked(t, JSON.stringify(EVENT), "takes it");
  assert.deepEqual([code, out, err, sent.length], [0, "", "", 1]);
  const { pid, start, ...body } = sent[0] as { pid: number; start?: string };
  assert.deepEqual(body, { agent: "claude", sessionId: "s1", cwd: "/w" });
  assert.ok(pid > 1 && pid !== process.pid);
  if (process.platform === "linux") assert.match(start ?? "", /^\d+$/);
});

test("what fails is one line on stderr and 1: 2 would stop Claude Code", async (t) => {
  for (const kind of ["bad-request", "not-found", "conflict", "failed"] as const) {
    const { code, out, err } = await hooked(t, JSON.stringify(EVENT), kind);
    assert.deepEqual([code, out, err], [1, "", "agent-bridge: this is why\n"], kind);
  }
});

test("without a server, and at events that are neither start nor end, nothing is done", async (t) => {
  const quiet = { code: 0, out: "", err: "", sent: [] };
  assert.deepEqual(await hooked(t, JSON.stringify(EVENT)), quiet);
  assert.deepEqual(await hooked(t, JSON.stringify({ ...EVENT, hook_event_name: "Stop" }), "takes it"), quiet);
  for (const reason of ["clear", "resume"]) {
    assert.deepEqual(
      await hooked(t, JSON.stringify({ ...EVENT, hook_event_name: "SessionEnd", reason }), "takes it"),
      quiet,
    );
  }
});
