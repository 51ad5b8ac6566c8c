import assert from "node:assert/strict";
import { test } from "node:test";
import { nowRows } from "../../../src/dashboard/app/home/now-rows.ts";
import { lastWords } from "../../../src/dashboard/app/home/words.ts";
import { standing } from "../../../src/dashboard/app/parts/standing.ts";
import type { Item, OwnSession, Peer, Run } from "../../../src/dashboard/app/wire.ts";

const peer = (name: string, more: Partial<Peer> = {}): Peer => ({
  name,
  agent: "claude",
  sessionId: `id-${name}`,
  cwd: `/w/${name}`,
  startedAt: 100,
  ...more,
});
const own = (id: string, more: Partial<OwnSession> = {}): OwnSession => ({
  id,
  kind: "agent",
  status: "busy",
  agent: "claude",
  cwd: "/w",
  startedAt: 100,
  ...more,
});
const run = (name: string, more: Partial<Run> = {}): Run => ({
  name,
  agent: "codex",
  header: "",
  startedAt: 100,
  updatedAt: 100,
  status: "running",
  last: "tests pass",
  task: "Do it",
  by: null,
  workdir: "/w",
  continues: null,
  archived: false,
  recovered: false,
  hasLog: true,
  ...more,
});
const state = (peers: readonly Peer[] = [], runs: readonly Run[] = [], running: readonly Run[] = []) => ({
  peers,
  runs,
  running,
});

test("a session of ours, its peer and its run are one row", () => {
  const session = own("s1", { name: "fix", nativeSessionId: "n1", model: "m" });
  const peers = [peer("fix", { sessionId: "n1", title: "Fix the build" })];
  const rows = nowRows(state(peers, [run("r1", { sessionId: "n1" })]), [session]);
  assert.equal(rows.length, 1);
  const [row] = rows;
  assert.equal(row?.title, "fix");
  assert.equal(row?.model, "m");
  assert.equal(row?.last, "tests pass");
  assert.deepEqual(row?.place, { view: "agent", id: "s1" });
  assert.deepEqual(row?.chat, { path: "/api/sessions/s1", ids: ["s1", "n1"] });
});

test("a session of ours without a name is called by what it was asked, else by its agent, folder and time", () => {
  const titleOf = (title: string): string | undefined =>
    nowRows(state([peer("s1", { sessionId: "n1", title })]), [own("s1", { nativeSessionId: "n1" })])[0]?.title;
  assert.equal(titleOf("Fix the build"), "Fix the build");
  for (const none of ["", "s1"]) assert.match(String(titleOf(none)), /^Claude Code · w · .*1970/);
});

test("a peer and the run of its session are one row, which leads to the session", () => {
  const rows = nowRows(state([peer("p", { title: "T" })], [], [run("r", { session: "id-p" })]), []);
  assert.deepEqual(
    rows.map(({ place }) => place),
    [{ view: "session", agent: "claude", id: "id-p" }],
  );
});

test("what has nothing to do with each other has its own row", () => {
  const rows = nowRows(state([peer("p")], [run("r"), run("old", { status: "done" })]), [own("s", { name: "mine" })]);
  assert.deepEqual(rows.map(({ key }) => key).toSorted(), ["own s", "peer p", "run r"]);
});

test("what waits for an answer comes first, then what works, then what is idle; the latest first", () => {
  const question = { toolCallId: "t", title: "rm -rf build", options: [] };
  const rows = nowRows(
    state([peer("idle", { activity: "idle", startedAt: 900 }), peer("new", { activity: "busy", startedAt: 500 })]),
    [own("busy"), own("asks", { status: "awaiting-input", permissions: [question] })],
  );
  assert.deepEqual(
    rows.map(({ key }) => key),
    ["own asks", "peer new", "own busy", "peer idle"],
  );
  assert.deepEqual(rows[0]?.question, question);
  assert.equal(rows[0]?.word, "waiting for you");
});

test("without a title a row has its name or its command line", () => {
  const titles = nowRows(state([peer("claude-shop")], [run("r", { task: "" })]), [
    own("a", { name: "mine" }),
    own("c", { kind: "command", argv: ["npm", "test"], agent: undefined }),
  ]).map(({ key, title }) => [key, title]);
  assert.deepEqual(Object.fromEntries(titles), {
    "peer claude-shop": "claude-shop",
    "run r": "r",
    "own a": "mine",
    "own c": "npm test",
  });
});

test("a peer whose session is not known leads nowhere, and one that has said nothing has no chat", () => {
  const rows = nowRows(state([peer("p", { sessionId: null }), peer("q")]), []);
  assert.deepEqual(
    rows.map(({ place, chat }) => [place?.view, chat]),
    [
      [undefined, undefined],
      ["session", undefined],
    ],
  );
});

test("sessions that have ended are not going on", () => {
  assert.deepEqual(nowRows(state(), [own("s", { status: "ended" }), own("t", { status: "failed" })]), []);
});

test("a word of the agent's own for what it does stays as it is", () => {
  assert.deepEqual(standing("compacting"), { status: "live", word: "compacting" });
  assert.deepEqual(standing("waiting"), { status: "awaiting-input", word: "waiting for you" });
  assert.deepEqual(standing(undefined), { status: "live", word: "live" });
});

test("what was done last is what a call does, not what came of it", () => {
  const items: Item[] = [
    { kind: "user", at: 1, ref: "1", text: "Go on\nplease" },
    { kind: "tool", at: 2, ref: "2", tool: "Bash", summary: "npm test" },
    { kind: "tool", at: 3, ref: "3", tool: "Bash", text: "ok", of: "2" },
  ];
  assert.deepEqual(lastWords(items), { text: "Bash: npm test", at: 2 });
  assert.deepEqual(lastWords(items.slice(0, 1)), { text: "You: Go on please", at: 1 });
  const said: Item = { kind: "assistant", at: 4, ref: "4", text: `\u001b[31m${"x".repeat(900)}\u202e` };
  assert.equal(lastWords([...items, said])?.text, "x".repeat(300));
  assert.equal(lastWords([]), undefined);
});
