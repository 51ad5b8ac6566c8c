import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { SavedSession } from "../../src/peers/own-sessions.ts";
import type { KnownPeer, Peer } from "../../src/peers/peer.ts";
import { Failure } from "../../src/platform/failure.ts";
import { type AskedTools, askedChat } from "../../src/routes/asked-chat.ts";
import type { ExportWays } from "../../src/routes/export-source.ts";
import { Pages } from "../../src/stores/pages.ts";
import { START } from "../../src/transcript/cursor.ts";
import { type Item, toItems } from "../../src/transcript/item.ts";
import type { SessionId } from "../../src/transcript/names.ts";
import { at, FakeStore } from "../support/fake-store.ts";

/** A machine with the stores of Claude Code, Codex and our recordings, sessions of ours, and peers. */
function machine(t: TestContext, given: { ours?: readonly SavedSession[]; peers?: readonly KnownPeer[] } = {}) {
  const [claude, codex, recordings] = [new FakeStore("claude"), new FakeStore("codex"), new FakeStore("daemon")];
  for (const store of [claude, codex, recordings]) t.after(() => store.remove());
  const { ours = [], peers = [] } = given;
  const tools: AskedTools = {
    stores: [claude, codex, recordings],
    pages: new Pages({ now: () => at(9) }),
    own: { read: () => ({ sessions: ours, peers: [] }) },
    peers: {
      find: async (name) => peers.find(({ peer }) => peer.name === name),
      list: async () => peers.map(({ peer }) => peer),
    },
  };
  const texts = async (asked: string, child?: string): Promise<string[]> => {
    const { store, ref } = (await askedChat(tools, asked, child)).chat;
    const { entries } = await store.entries(ref, START, { bytes: 1024 * 1024, parts: 200 });
    return toItems(entries).map(({ text }: Item) => text ?? "");
  };
  const refused = async (asked: string, child?: string): Promise<string> => failure(askedChat(tools, asked, child));
  return { claude, codex, recordings, tools, texts, refused };
}

/** The kind and the message of the Failure that `work` ends with. */
async function failure(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => assert.fail("nothing failed"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Failure, String(error));
  return `${error.kind}: ${error.message}`;
}

function ours(id: string, more: Partial<SavedSession> = {}): SavedSession {
  return { id, kind: "agent", agent: "claude", cwd: "/w", startedAt: at(1), endedAt: at(2), status: "ended", ...more };
}

function peer(name: string, more: Partial<Peer> = {}, known: Partial<KnownPeer> = {}): KnownPeer {
  return {
    peer: { name, agent: "claude", sessionId: null, cwd: "/w", startedAt: at(1), ...more },
    origin: "joined",
    ...known,
  };
}

const sources = async (ways: ExportWays): Promise<unknown[]> =>
  Promise.all(
    [ways.native(), ways.daemon()].map((way) =>
      way.then(
        ({ source, ref, agent }) => [source, ref.agent, ref.id, agent],
        (error: unknown) => (error as Failure).message,
      ),
    ),
  );

test("a session is found by agent and id, by its id, and by the beginning that only its id has", async (t) => {
  const { claude, codex, texts, refused } = machine(t);
  claude.say("abc1", "of claude");
  codex.say("abd1", "of codex");
  for (const asked of ["claude/abc1", "claude/ab", "abc1", "abc"]) assert.deepEqual(await texts(asked), ["of claude"]);
  for (const asked of ["codex/a", "abd"]) assert.deepEqual(await texts(asked), ["of codex"]);
  for (const asked of ["codex/abc1", "x", "", "/", "claude/", "nobody/abc1", "host/abc1", "../abc1", "a b"])
    assert.equal(await refused(asked), `not-found: no session "${asked}"; see agent-bridge ls`);
});

test("what several fit is refused on one line that names each with its title", async (t) => {
  const { claude, codex, refused } = machine(t, { ours: [ours("abx", { name: "till" })] });
  claude.say("abc1", "");
  codex.say("abd1", "");
  const title = `Fix\n\u001b[31m the\u202e till${" and more".repeat(9)}`;
  codex.list = async () => [
    { agent: "codex", id: "abd1" as SessionId, title, cwd: "", startedAt: at(1), updatedAt: at(1) },
  ];
  assert.equal(
    await refused("ab"),
    'usage: "ab" may be abx (till), claude/abc1 (Title of abc1), codex/abd1 (Fix the till and more and more and more…); ' +
      "give more of the id",
  );
});

test("the same id in two stores is told with both agents, and each can be had", async (t) => {
  const { claude, codex, texts, refused } = machine(t);
  claude.say("same", "of claude");
  codex.say("same", "of codex");
  assert.equal(await refused("same"), 'usage: "same" may be claude/same, codex/same; give more of the id');
  assert.deepEqual(await texts("codex/same"), ["of codex"]);
});

test("no more than eight are named", async (t) => {
  const { claude, refused } = machine(t);
  for (let number = 0; number < 12; number++) claude.say(`s-${number}x`, "");
  assert.match(await refused("s-"), / and 4 more; give more of the id$/);
});

test("a session of ours goes by its id, its beginning and its name; an id goes before a name, a name before a beginning", async (t) => {
  const saved = [
    ours("sess_1", { name: "till", nativeSessionId: "native" }),
    ours("sess_2", { name: "till", startedAt: at(5) }),
    ours("other", { name: "sess_1" }),
    ours("till-and-more"),
  ];
  const { claude, recordings, texts } = machine(t, { ours: saved });
  claude.say("native", "in the agent's own store");
  recordings.say("sess_1", "as recorded");
  recordings.say("sess_2", "the later one");
  recordings.say("other", "another");
  for (const asked of ["sess_1", "native"]) assert.deepEqual(await texts(asked), ["in the agent's own store"]);
  assert.deepEqual(await texts("daemon/sess_1"), ["as recorded"]);
  for (const asked of ["till", "sess_2"]) assert.deepEqual(await texts(asked), ["the later one"]);
  assert.deepEqual(await texts("oth"), ["another"]);
});

test("a peer goes by its name, before a session of ours of that name that has ended, and by the beginning of its id", async (t) => {
  const peers = [
    peer("front", { sessionId: "p1-native" }),
    peer("new"),
    peer("far", { agent: "gemini", sessionId: "g1" }),
    peer("mine", {}, { origin: "own", ownId: "sess_2" }),
  ];
  const saved = [ours("sess_1", { name: "front" }), ours("sess_2", { name: "mine", endedAt: at(3) })];
  const { claude, recordings, texts, refused } = machine(t, { ours: saved, peers });
  claude.say("p1-native", "the peer's");
  recordings.say("sess_2", "ours");
  for (const asked of ["front", "p1", "claude/p1"]) assert.deepEqual(await texts(asked), ["the peer's"]);
  assert.deepEqual(await texts("mine"), ["ours"]);
  assert.match(await refused("new"), /^conflict: this session has no id yet/);
  assert.match(await refused("far"), /^not-found: there is no store of this agent's sessions here/);
});

test("a terminal or a command has neither chat nor export, whatever it is asked by", async (t) => {
  const { refused } = machine(t, {
    ours: [ours("sess_1", { kind: "terminal", name: "top" }), ours("cmd", { kind: "command" })],
  });
  for (const asked of ["sess_1", "sess", "top"])
    assert.equal(
      await refused(asked),
      "not-found: a terminal session has no chat, so there is nothing to show or export; " +
        "agent-bridge sessions attach sess_1 shows what it prints",
    );
  assert.match(await refused("cmd"), /^not-found: a command session has no chat/);
});

test("a subagent goes by its id or its beginning, under its own session alone", async (t) => {
  const { claude, texts, refused } = machine(t);
  claude.say("s1", "hello");
  claude.say("s1.c1a", "from the child");
  claude.say("s1.c1b", "from another");
  claude.say("s2", "");
  assert.deepEqual(await texts("s1", "c1a"), ["from the child"]);
  assert.equal(await refused("s1", "c1"), 'usage: 2 subagents begin with "c1"; give more of the id');
  assert.equal(await refused("s2", "c1a"), 'not-found: s2 has no subagent "c1a"; it has none');
});

test("a session of ours is exported from the agent's own store or from our recording, whichever id it was found by", async (t) => {
  const saved = ours("sess_1", { nativeSessionId: "native", name: "till" });
  const { claude, recordings, tools } = machine(t, { ours: [saved] });
  claude.say("native", "a");
  recordings.say("sess_1", "b");
  const both = [
    ["native", "claude", "native", undefined],
    ["daemon", "daemon", "sess_1", "claude"],
  ];
  for (const asked of ["sess_1", "till", "native", "claude/native", "daemon/sess_1"])
    assert.deepEqual(await sources((await askedChat(tools, asked)).ways), both, asked);
});

test("a way that there is not says why", async (t) => {
  const saved = [ours("sess_1"), ours("sess_2", { agent: "gemini" }), ours("sess_3", { nativeSessionId: "gone" })];
  const { claude, recordings, tools } = machine(t, { ours: saved });
  claude.say("plain", "a");
  claude.say("plain.c1", "a");
  recordings.say("foreign", "b");
  const why = async (asked: string, child?: string): Promise<unknown[]> =>
    (await sources((await askedChat(tools, asked, child)).ways)).filter((each) => typeof each === "string");
  const recording = "nothing was recorded of this session";
  assert.deepEqual(await why("plain"), [recording]);
  assert.deepEqual(await why("plain", "c1"), [recording]);
  assert.deepEqual(await why("sess_1"), ["this session ended before it had an id there", recording]);
  assert.deepEqual(await why("sess_2"), ["this session ended before it had an id there", recording]);
  assert.deepEqual(await why("sess_3"), ["its transcript is not there", recording]);
  assert.deepEqual(await why("foreign"), [
    "another program has recorded this session, so where its agent keeps it is not known",
  ]);
});
