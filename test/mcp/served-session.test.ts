import assert from "node:assert/strict";
import { test } from "node:test";
import { servedSession } from "../../src/commands/mcp/served-session.ts";
import type { ListedProcess } from "../../src/platform/ancestors.ts";
import { environmentFrom } from "../../src/platform/environment.ts";
import { startOf } from "../../src/platform/process-identity.ts";
import type { LiveProof, Store } from "../../src/stores/store.ts";
import type { Cursor } from "../../src/transcript/cursor.ts";
import type { Entry } from "../../src/transcript/entry.ts";
import { fakeContext, fakeStore, listed, NOW } from "../commands/fake.ts";
import { at, sid } from "../support/fake-store.ts";

const CLI = process.ppid;
const OUTER = process.pid;

const row = (pid: number, ...words: string[]): ListedProcess => ({ pid, parent: 1, words });
const open = (id: string, pid: number): LiveProof => ({ id: sid(id), pid, cwd: "/w", startedAt: at(1) });

/** A store of `agent` that proves these sessions to be open; `calling` are in this folder and call a tool. */
function store(
  agent: Store["agent"],
  proofs: readonly LiveProof[],
  calling: { readonly [id: string]: string } = {},
): Store {
  const calls = Object.entries(calling).map(([id, tool]): [string, Entry[]] => [
    id,
    [{ kind: "tool-call", at: NOW, pos: "j:1:0" as Cursor, tool, callId: "c", input: {} }],
  ]);
  const rows = calls.map(([id]) => listed(id, { agent, cwd: process.cwd() }));
  return fakeStore(rows, Object.fromEntries(calls), {
    agent,
    find: async (id) => (id in calling ? { agent, id, place: undefined } : undefined),
    live: async () => proofs,
  });
}

async function found(
  stores: readonly Store[],
  variables: { readonly [name: string]: string } = {},
  ancestors: readonly ListedProcess[] = [row(9, "sh", "-c", "x"), row(CLI, "claude"), row(OUTER, "codex")],
) {
  const histories = await fakeContext(stores).bridge.histories(environmentFrom({ home: "/home/dev" }));
  const environment = environmentFrom({ home: "/home/dev", variables });
  const { agent, sessionId, cwd, pid, start } = await servedSession({ environment, histories, now: NOW, ancestors });
  assert.equal(start, startOf(pid));
  return [agent, sessionId, cwd, pid];
}

test("the session is the one that its agent's files prove to be open in the process that runs this one", async () => {
  const stores = [store("claude", [open("other", 7), open("s1", CLI)]), store("codex", [open("outer", OUTER)])];
  assert.deepEqual(await found(stores), ["claude", "s1", "/w", CLI]);
  // The process has gone on to another session than it began with.
  assert.deepEqual(await found(stores, { CLAUDE_CODE_SESSION_ID: "old" }), ["claude", "s1", "/w", CLI]);
});

test("what an agent says in the environment counts where nothing is proven; another agent's proof further up does not", async () => {
  const stores = [store("claude", []), store("codex", [open("outer", OUTER)])];
  assert.deepEqual(await found(stores, { CLAUDE_CODE_SESSION_ID: "s1" }), ["claude", "s1", process.cwd(), CLI]);
});

test("of several that one process has open it is the one whose call of this tool has no result yet", async () => {
  const both = [open("s1", CLI), open("s2", CLI)];
  for (const tool of ["mcp__agent-bridge__join", "agent-bridge_join", "join"]) {
    const stores = [store("claude", both, { s1: "mcp__agent-bridge__peers", s2: tool })];
    assert.deepEqual(await found(stores), ["claude", "s2", process.cwd(), CLI], tool);
  }
  await assert.rejects(found([store("claude", both, { s1: "adjoin", s2: "Bash" })]), {
    kind: "failed",
    message: /^which session this is can't be told: .* run agent-bridge join with the session's shell tool instead$/,
  });
});
