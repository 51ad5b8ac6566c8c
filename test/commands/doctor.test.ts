import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { OwnFiles } from "../../src/commands/bridge.ts";
import { COMMANDS } from "../../src/commands/commands.ts";
import { run } from "../../src/commands/run.ts";
import { environmentFrom } from "../../src/platform/environment.ts";
import { ourIdentity } from "../../src/platform/process-identity.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { put } from "../runs/home.ts";
import { fakeContext } from "./fake.ts";

/** What doctor prints where these variables are set and our own folder is so. */
async function examined(
  t: TestContext,
  variables: { readonly [name: string]: string },
  more: Partial<OwnFiles> = {},
): Promise<{ code: number; out: string }> {
  const home = temporaryFolder(t);
  const own: OwnFiles = {
    home: { path: "/home/dev/.agent-bridge", found: true },
    key: { found: true },
    config: { found: false, warnings: [] },
    ...more,
  };
  const running = { url: "http://127.0.0.1:4777", port: 4777, pid: 7, bootNonce: "0".repeat(32) };
  const context = fakeContext([], {
    environment: () => environmentFrom({ home, variables }),
    bridge: { ownFiles: () => own, running: async () => running },
  });
  const code = await run(context, COMMANDS, ["doctor"]);
  return { code, out: context.terminal.written.out };
}

test("doctor says when a variable names a folder that is not there, and nothing of one that is", async (t) => {
  const there = temporaryFolder(t);
  const { code, out } = await examined(t, { CLAUDE_CONFIG_DIR: "/nowhere/claude", CODEX_HOME: there });
  assert.deepEqual(out.match(/^warning: .*$/gm), [
    "warning: CLAUDE_CONFIG_DIR is set to /nowhere/claude, where there is nothing",
  ]);
  assert.equal(code, 0);
  assert.doesNotMatch((await examined(t, {})).out, /warning/);
});

test("doctor never says that a key is there where none can be used", async (t) => {
  const keyLine = async (more: Partial<OwnFiles>): Promise<string | undefined> =>
    /^key +(.*)$/m.exec((await examined(t, {}, more)).out)?.[1];
  assert.equal(await keyLine({}), "there");
  assert.equal(await keyLine({ key: { found: false } }), "none yet; serve or token makes one");
  assert.equal(
    await keyLine({ key: { found: false, problem: "dashboard-key is a folder: move it away" } }),
    "none that can be used",
  );
  const home = { path: "/file", found: true, problem: "/file is a file" };
  assert.equal(await keyLine({ home, key: { found: false } }), "none");
});

test("doctor tells of sessions.json: what was lost, what can't be read, who joined, and that it is damaged", async (t) => {
  const home = temporaryFolder(t);
  const session = { id: "sess_1", kind: "agent", cwd: "/w", startedAt: 1, status: "ended", endedAt: 2 };
  const peer = { name: "a", agent: "claude", sessionId: null, cwd: "/w", joinedAt: 1, process: ourIdentity() };
  const asked = async (content: string | object): Promise<{ code: number; out: string }> => {
    put(join(home, ".agent-bridge"), "sessions.json", content);
    const context = fakeContext([], {
      environment: () => environmentFrom({ home }),
      bridge: {
        ownFiles: () => ({
          home: { path: home, found: true },
          key: { found: true },
          config: { found: false, warnings: [] },
        }),
        running: async () => ({ url: "http://127.0.0.1:4777", port: 4777, pid: 7, bootNonce: "0".repeat(32) }),
      },
    });
    return { code: await run(context, COMMANDS, ["doctor"]), out: context.terminal.written.out };
  };
  const lost = { records: 3, why: "no space is left" };
  const { code, out } = await asked({
    version: 1,
    sessions: [{ ...session, lost }, { ...session, id: "sess_2" }, 7],
    peers: [peer, { ...peer, name: "dead", process: { ...ourIdentity(), start: "1" } }],
  });
  assert.equal(code, 0);
  assert.match(out, /^sessions {2}2 sessions of our own, 1 joined$/m);
  assert.match(out, /^ {2}leaves out {2}1 entry of sessions\.json can't be read$/m);
  assert.match(out, /^ {2}lost {8}3 records of sess_1: no space is left$/m);
  assert.match(out, /^Nothing is broken besides what is left out or lost above\.$/m);
  const lossy = await asked({ version: 1, sessions: [{ ...session, lost }], peers: [], dropped: 50_000 });
  assert.match(lossy.out, /^ {2}dropped {2}50,000 sessions that ended long ago$/m);
  assert.match(lossy.out, /^Nothing is broken besides what is lost above\.$/m);
  for (const [content, told] of [
    ["{", /broken: sessions\.json is damaged and is left as it is/],
    [{ version: 2 }, /broken: sessions\.json was written by a newer agent-bridge/],
  ] as const) {
    const damaged = await asked(content);
    assert.equal(damaged.code, 1);
    assert.match(damaged.out, told);
  }
});
