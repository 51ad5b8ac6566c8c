import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Histories } from "../../src/commands/bridge.ts";
import { type CallingTools, callingSession } from "../../src/commands/calling-session.ts";
import { certainProcess, likelyProcess } from "../../src/commands/cli-process.ts";
import { ancestorsOf, type ListedProcess } from "../../src/platform/ancestors.ts";
import { environmentFrom } from "../../src/platform/environment.ts";
import { Failure } from "../../src/platform/failure.ts";
import { startOf } from "../../src/platform/process-identity.ts";
import type { LiveProof, Store } from "../../src/stores/store.ts";
import type { Cursor } from "../../src/transcript/cursor.ts";
import type { Entry } from "../../src/transcript/entry.ts";
import { liveProcess } from "../peers/live-process.ts";
import { at, sid } from "../support/fake-store.ts";
import { fakeContext, fakeStore, listed, NOW } from "./fake.ts";

const HERE = process.cwd();
const COMMAND = "cd . && node /opt/agent-bridge.mjs join --name front";

const row = (pid: number, ...words: string[]): ListedProcess => ({ pid, parent: 1, words });
const call = (input: unknown, more: object = {}): Entry => ({
  ...{ kind: "tool-call", at: at(NOW - 1_000), pos: "j:1:0" as Cursor, tool: "bash", callId: "c1", input },
  ...more,
});
const result = (more: object): Entry => ({
  ...{ kind: "tool-result", at: NOW, pos: "j:2:0" as Cursor, text: "front" },
  ...more,
});

/** What finds a session among these stores, environment and ancestors. */
async function toolsFor(given: {
  readonly stores?: readonly Store[];
  readonly variables?: { readonly [name: string]: string };
  readonly ancestors?: readonly ListedProcess[];
}): Promise<CallingTools> {
  const { stores = [], variables = {}, ancestors = [row(process.ppid, "node", "/x/agent.js")] } = given;
  const environment = environmentFrom({ home: "/home/dev", variables });
  const histories: Histories = await fakeContext(stores).bridge.histories(environment);
  return { environment, histories, now: NOW, ancestors, words: ["agent-bridge.mjs", "join"] };
}

/** A store of `agent` with these sessions' chats; each works in `cwd`. */
function chats(agent: Store["agent"], of: { readonly [id: string]: Entry[] }, cwd = HERE): Store {
  const rows = Object.keys(of).map((id) => listed(id, { agent, cwd, title: `title of ${id}` }));
  return fakeStore(rows, of, {
    agent,
    find: async (id) => (id in of ? { agent, id, place: undefined } : undefined),
    live: async () => [],
  });
}

const proving = (agent: Store["agent"], proofs: readonly LiveProof[]): Store =>
  fakeStore([], {}, { agent, live: async () => proofs });

const isFailure = (text: RegExp) => (error: unknown) => error instanceof Failure && text.test(error.message);

test("Claude Code and Codex say in the environment which session it is; the CLI above us is its process", async (t) => {
  const cli = await liveProcess(t);
  const start = startOf(cli.pid);
  for (const [variables, agent, words] of [
    [{ CLAUDE_CODE_SESSION_ID: "s1" }, "claude", ["claude"]],
    [{ CODEX_THREAD_ID: "s1" }, "codex", ["/usr/lib/node_modules/@openai/codex/vendor/codex", "exec"]],
  ] as const) {
    const ancestors = [row(3, "/bin/bash", "-c", "x"), row(cli.pid, ...words), row(2, "-zsh")];
    const found = await callingSession(await toolsFor({ variables, ancestors }));
    assert.deepEqual(found, { agent, sessionId: "s1", cwd: HERE, pid: cli.pid, start });
  }
});

test("where the CLI can't be told by its name, the store's proof tells it", async (t) => {
  const cli = await liveProcess(t);
  const store = proving("claude", [{ id: sid("s1"), pid: cli.pid, cwd: "/w", startedAt: at(1) }]);
  const found = await callingSession(await toolsFor({ stores: [store], variables: { CLAUDE_CODE_SESSION_ID: "s1" } }));
  assert.equal(found.pid, cli.pid);
});

test("of an agent inside another the nearer one is meant", async () => {
  const variables = { CLAUDE_CODE_SESSION_ID: "outer", CODEX_THREAD_ID: "inner" };
  const codex = row(process.ppid, "codex", "exec");
  const claude = row(process.pid, "claude");
  const inner = await callingSession(await toolsFor({ variables, ancestors: [codex, row(9, "bash"), claude] }));
  assert.deepEqual([inner.agent, inner.pid], ["codex", process.ppid]);
  const outer = await callingSession(await toolsFor({ variables, ancestors: [claude, codex] }));
  assert.deepEqual([outer.agent, outer.pid], ["claude", process.pid]);
  const unknown = toolsFor({
    variables,
    ancestors: [row(process.pid, "node", "/x.js")],
    stores: [proving("claude", []), proving("codex", [])],
  });
  await assert.rejects(callingSession(await unknown), isFailure(/any of these sessions: claude\/outer, codex\/inner/));
});

test("OpenCode's session is the one whose newest call is this command and has not come back", async () => {
  const store = chats("opencode", {
    ses_1: [call({ command: COMMAND }, { isRunning: true, output: "so far" })],
    ses_2: [call({ command: COMMAND }, { output: "front" })],
    ses_3: [call({ command: "sleep 9" })],
  });
  const variables = { OPENCODE: "1", OPENCODE_PID: String(process.pid) };
  const ancestors = [row(process.ppid, "bash"), row(process.pid, "bun", "/x")];
  const found = await callingSession(await toolsFor({ stores: [store], variables, ancestors }));
  assert.deepEqual([found.agent, found.sessionId, found.pid], ["opencode", "ses_1", process.pid]);
});

test("OpenCode inside Claude Code is the nearer one, and the other way round", async () => {
  const store = chats("opencode", { ses_1: [call({ command: COMMAND })] });
  const variables = { OPENCODE: "1", OPENCODE_PID: String(process.pid), CLAUDE_CODE_SESSION_ID: "s1" };
  const opencode = row(process.pid, "opencode");
  const claude = row(process.ppid, "claude");
  for (const [ancestors, agent] of [
    [[opencode, claude], "opencode"],
    [[claude, opencode], "claude"],
  ] as const) {
    assert.equal((await callingSession(await toolsFor({ stores: [store], variables, ancestors }))).agent, agent);
  }
});

test("Hermes' session is found by its records alone", async () => {
  const answered = [call(COMMAND), result({ callId: "c1" })];
  const elsewhere = [call(COMMAND), result({ callId: "another" })];
  const store = chats("hermes", { h1: answered, h2: elsewhere, h3: [call(COMMAND), result({ of: "j:1:0" })] });
  const found = await callingSession(await toolsFor({ stores: [store] }));
  assert.deepEqual([found.agent, found.sessionId, found.cwd], ["hermes", "h2", HERE]);
});

test("a call that another folder's session made, or that began an hour ago, is not this one", async () => {
  for (const store of [
    chats("hermes", { h1: [call(COMMAND)] }, "/somewhere/else"),
    chats("hermes", { h1: [call(COMMAND)] }, `${HERE}/below`),
    chats("hermes", { h1: [call(COMMAND, { at: at(NOW - 3_600_000) })] }),
    chats("daemon", { h1: [call(COMMAND)] }),
    chats("hermes", { h1: [call("agent-bridge.mjs peers")] }),
  ]) {
    await assert.rejects(callingSession(await toolsFor({ stores: [store] })), isFailure(/CLAUDE_CODE_SESSION_ID/));
  }
  const above = chats("hermes", { h1: [call(COMMAND)] }, "/");
  assert.equal((await callingSession(await toolsFor({ stores: [above] }))).sessionId, "h1");
});

test("several sessions that run this command are all named", async () => {
  const stores = [chats("opencode", { ses_1: [call(COMMAND)] }), chats("hermes", { h1: [call(COMMAND)] })];
  const told = /any of these sessions: opencode\/ses_1 "title of ses_1", hermes\/h1 "title of h1"/;
  await assert.rejects(callingSession(await toolsFor({ stores })), isFailure(told));
});

test("a program is told by its name or its package, not by a folder that happens to be called so", () => {
  const isClaude = (...words: string[]): boolean =>
    certainProcess([row(5, ...words)], "claude", undefined) !== undefined;
  assert.ok(isClaude("claude", "--resume"));
  assert.ok(isClaude("/home/dev/.local/bin/claude"));
  assert.ok(isClaude("C:/bin/claude.exe"));
  assert.ok(isClaude("node", "--max-old-space-size=8", "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js"));
  assert.ok(!isClaude("node", "/home/claude/x.js"));
  assert.ok(!isClaude("vim", "claude"));
  assert.ok(!isClaude());
  const hermes = [row(5, "python3", "/opt/venv/lib/python3.12/site-packages/hermes_cli/main.py"), row(6, "hermes")];
  assert.equal(certainProcess(hermes, "hermes", undefined)?.pid, 6);
  assert.equal(certainProcess([row(7, "x"), row(8, "opencode")], "opencode", 7)?.pid, 7);
});

test("the likeliest process is the nearest that is no shell", () => {
  const shells = [row(3, "/bin/sh", "-c", "x"), row(4, "timeout", "9"), row(5, "-bash")];
  assert.equal(likelyProcess([...shells, row(6, "python3", "agent.py"), row(7, "tmux")])?.pid, 6);
  assert.equal(likelyProcess(shells)?.pid, 5);
  assert.equal(likelyProcess([]), undefined);
});

test("the processes above this one are listed from the parent on, whatever they are called", async (t: TestContext) => {
  if (process.platform === "win32") return;
  const cli = await liveProcess(t);
  const [parent] = ancestorsOf(cli.pid);
  assert.equal(parent?.pid, process.pid);
  assert.ok(parent.words.some((word) => word.includes("node")));
  const loop = (pid: number): ListedProcess => ({ pid, parent: pid === 2 ? 3 : 2, words: [] });
  assert.equal(ancestorsOf(2, loop).length, 64);
});
