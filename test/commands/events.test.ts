import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { COMMANDS } from "../../src/commands/commands.ts";
import { run } from "../../src/commands/run.ts";
import { identityOf, type ProcessIdentity } from "../../src/platform/process-identity.ts";
import { systemTimer, type Timer } from "../../src/platform/timer.ts";
import { sessionServer } from "../support/session-server.ts";
import { until } from "../support/turns.ts";
import { fakeContext } from "./fake.ts";

const notice = (seq: number, text = `n${seq}`) => ({ seq, kind: "text-delta", text: `${text}\n` });
const seqs = (text: string): number[] => [...text.matchAll(/"seq":(\d+)/g)].map((match) => Number(match[1]));

test("what is recorded is printed without a server, by id, its beginning and name, and sessions events is the same", async (t) => {
  const { bridge, record, sessions } = await sessionServer(t);
  sessions.add({ id: "sess_1", name: "shop", status: "ended" });
  for (let seq = 1; seq <= 1200; seq++) record("sess_1", notice(seq));
  record("sess_2", notice(1, "of another program"));
  const ran = async (...words: string[]) => {
    const context = fakeContext([], { bridge: { ...bridge, running: async () => undefined } });
    return { code: await run(context, COMMANDS, words), ...context.terminal.written };
  };
  const whole = (await ran("events", "sess_1", "--json")).out;
  assert.deepEqual(
    seqs(whole),
    Array.from({ length: 1200 }, (_, index) => index + 1),
  );
  for (const asked of ["shop", "daemon/sess_1"]) {
    assert.deepEqual(await ran("events", "--json", asked), { code: 0, out: whole, err: "" });
    assert.deepEqual(await ran("sessions", "events", "--json", asked), { code: 0, out: whole, err: "" });
  }
  assert.deepEqual(seqs((await ran("events", "shop", "--since", "1198", "--json")).out), [1199, 1200]);
  assert.equal((await ran("events", "sess_2")).out, "of another program\n");
  assert.match((await ran("events", "sess_")).err, /"sess_" may be sess_1 \(shop\), daemon\/sess_2 .*; give more/);
  for (const asked of ["sess_9", "claude/sess_1"]) assert.equal((await ran("events", asked)).code, 2);
});

test("a recording is followed without a server: from its first record, over its replacement, until Ctrl-C", async (t) => {
  const { bridge, record, sessions, home } = await sessionServer(t);
  sessions.add({ id: "sess_1", status: "busy" });
  const interrupt = new AbortController();
  const context = fakeContext([], {
    bridge: { ...bridge, running: async () => undefined },
    untilInterrupted: () => interrupt.signal,
  });
  const code = run(context, COMMANDS, ["events", "-f", "--json", "sess_1"]);
  const { written } = context.terminal;
  record("sess_1", notice(1));
  await until(() => written.out.includes('"seq":1'));
  record("sess_1", notice(2));
  await until(() => written.out.includes('"seq":2'));
  rmSync(join(home, ".agentproto/sessions/sess_1"), { recursive: true });
  record("sess_1", notice(1, "anew"));
  await until(() => written.out.includes("anew"));
  interrupt.abort();
  assert.equal(await code, 0);
  assert.deepEqual(seqs(written.out), [1, 2, 1]);
  assert.equal(written.err, "the recording was replaced; this is its beginning\n");
});

test("what nobody records is not followed", async (t) => {
  const { bridge, sessions } = await sessionServer(t);
  sessions.add({ id: "top", kind: "terminal", argv: ["top"] });
  for (const asked of ["top", "nothing"]) {
    const context = fakeContext([], { bridge });
    assert.equal(await run(context, COMMANDS, ["events", "-f", asked]), 2);
  }
});

test("a recording that goes away while it is followed is given up after a while, unless its session is at work", async (t) => {
  const { bridge, record, home } = await sessionServer(t);
  let owner: ProcessIdentity | undefined = identityOf(process.pid);
  const saved = () => ({ id: "sess_1", kind: "agent", cwd: "/w", startedAt: 0, status: "busy", owner }) as never;
  const interrupt = new AbortController();
  let pauses = 0;
  const after: Timer["after"] = (_ms, then) => {
    pauses++;
    return systemTimer.after(0, then);
  };
  const context = fakeContext([], {
    bridge: {
      ...bridge,
      ...{ timer: { after }, running: async () => undefined },
      ownSessions: () => ({ read: () => ({ sessions: [saved()], peers: [] }) }) as never,
    },
    untilInterrupted: () => interrupt.signal,
  });
  record("sess_1", notice(1));
  const code = run(context, COMMANDS, ["events", "-f", "--json", "sess_1"]);
  const { written } = context.terminal;
  await until(() => written.out.includes('"seq":1'));
  rmSync(join(home, ".agentproto/sessions/sess_1"), { recursive: true });
  const before = pauses;
  await until(() => pauses > before + 500);
  record("sess_1", notice(2));
  await until(() => written.out.includes('"seq":2'));
  owner = undefined;
  rmSync(join(home, ".agentproto/sessions/sess_1"), { recursive: true });
  assert.equal(await code, 1);
  assert.equal(written.err, "agent-bridge: the recording is gone, so nothing more will come of it\n");
});
