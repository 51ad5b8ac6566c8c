import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { COMMANDS } from "../../src/commands/commands.ts";
import { run } from "../../src/commands/run.ts";
import type { OwnSessions } from "../../src/peers/own-sessions.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { environmentFrom } from "../../src/platform/environment.ts";
import { createWatcher } from "../../src/platform/watch.ts";
import { RecordedStore } from "../../src/stores/recorded/store.ts";
import { at } from "../support/fake-store.ts";
import { type SessionServer, sessionServer } from "../support/session-server.ts";
import { until } from "../support/turns.ts";
import { type FakeTerminal, fakeContext, fakeStore, fakeTerminal } from "./fake.ts";
import { Typist } from "./typist.ts";

/** Without options: a pipe in, a pipe out. */
interface At {
  readonly input?: Typist;
  readonly columns?: number;
  readonly colours?: boolean;
  readonly interrupted?: AbortSignal;
}

interface Ran {
  readonly code: Promise<number>;
  readonly terminal: FakeTerminal;
}

/** Starts a command line beside the test; `code` is its exit code. */
function starting({ bridge }: Pick<SessionServer, "bridge">, words: readonly string[], given: At = {}): Ran {
  const { input = new Typist(false), interrupted = new AbortController().signal } = given;
  const terminal = { ...fakeTerminal(given.columns), colours: given.colours === true };
  const context = fakeContext([], {
    ...{ bridge, terminal, input },
    untilInterrupted: () => interrupted,
    interrupts: input.interrupts,
  });
  return { code: run(context, COMMANDS, words), terminal };
}

/** Runs a command line to its end: its exit code and what it wrote. */
async function ran(server: Pick<SessionServer, "bridge">, words: readonly string[], given: At = {}) {
  const { code, terminal } = starting(server, words, given);
  return { code: await code, ...terminal.written };
}

test("without a server the sessions that were are listed, as they are now, with the recordings of others", async (t) => {
  const { home, record } = await sessionServer(t);
  record("sess_00000001", { seq: 1, ts: "2026-02-03T10:00:00.000Z", kind: "user-prompt", text: "Ours" });
  record("sess_other", { seq: 1, ts: "2026-02-03T10:00:00.000Z", kind: "user-prompt", text: "Count" });
  const environment = environmentFrom({ home, platform: "linux" });
  const store = new RecordedStore({ environment, clock: systemClock, watcher: createWatcher(), extraRoots: [] });
  const session = { agent: "claude", cwd: "/w", startedAt: at(5), status: "busy", name: "mine" };
  const gone = { pid: 2 ** 22 + 1, start: "0" };
  const notChanged = async (): Promise<never> => assert.fail("nothing is changed");
  const own = (): OwnSessions => ({
    read: () => ({ sessions: [{ ...session, id: "sess_00000001", kind: "agent" as const, owner: gone }], peers: [] }),
    saveSession: notChanged,
    savePeer: notChanged,
    removePeers: notChanged,
  });
  const bridge = { running: async () => undefined, ownSessions: own };
  const context = fakeContext([store], { bridge });
  assert.equal(await run(context, COMMANDS, ["sessions", "--json"]), 0);
  const { sessions, total } = JSON.parse(context.terminal.written.out);
  assert.equal(total, 2);
  assert.deepEqual(
    sessions.map(({ id, status }: { id: string; status: string }) => [id, status]),
    [
      ["sess_other", "ended"],
      ["sess_00000001", "interrupted"],
    ],
  );
  const table = fakeContext([store], { bridge });
  assert.equal(await run(table, COMMANDS, ["sessions", "ls", "--kind", "agent"]), 0);
  assert.match(
    table.terminal.written.out,
    /^ID +NAME +WHAT +STATUS +STARTED +FOLDER\nsess_other .*\nsess_00000001 +mine +claude +interrupted /,
  );
  const events = fakeContext([store], { bridge });
  assert.equal(await run(events, COMMANDS, ["sessions", "events", "sess_other", "--json"]), 0);
  assert.equal(JSON.parse(events.terminal.written.out).text, "Count");
  const byName = fakeContext([store], { bridge });
  assert.equal(await run(byName, COMMANDS, ["sessions", "events", "mine"]), 0);
  assert.equal(byName.terminal.written.out, "❯ Ours\n");
  const none = fakeContext([fakeStore([])], { bridge });
  assert.equal(await run(none, COMMANDS, ["sessions", "events", "sess_other"]), 2);
});

test("all that needs a server says so when none runs", async () => {
  for (const words of [
    ["start", "claude"],
    ["prompt", "a", "--", "x"],
    ["attach", "a"],
    ["stop", "a"],
    ["restart", "a"],
    ["cancel", "a"],
    ["input", "a", "--", "x"],
    ["answer", "a", "b", "c"],
    ["--attach", "a"],
  ]) {
    const { code, out, err } = await ran({ bridge: { running: async () => undefined } }, ["sessions", ...words]);
    assert.deepEqual([code, out], [1, ""], words.join(" "));
    assert.equal(err, "agent-bridge: no server runs on this home: start one with agent-bridge serve\n");
  }
});

test("words that mean nothing are refused", async (t) => {
  const all = await sessionServer(t);
  for (const words of [
    ["other"],
    ["ls", "x"],
    ["ls", "--wait"],
    ["ls", "--kind", "pty"],
    ["start"],
    ["start", "--kind", "command"],
    ["start", "--kind", "terminal", "--permit", "ask", "--", "top"],
    ["start", "claude", "--permit", "always"],
    ["prompt"],
    ["attach"],
    ["attach", "a", "b"],
    ["attach", "a", "--json"],
    ["stop"],
    ["stop", "a", "b"],
    ["answer", "a", "b"],
    ["events"],
    ["ls", "--attach", "a"],
    ["--attach", "a", "--json"],
  ]) {
    const { code, out, err } = await ran(all, ["sessions", ...words]);
    assert.deepEqual([code, out], [2, ""], words.join(" "));
    assert.match(err, /^agent-bridge: [^\n]+\n$/);
  }
  const { code, err } = await ran(all, ["sessions", "prompt", "a"], { input: new Typist(true) });
  assert.deepEqual([code, err.includes("needs a text")], [2, true]);
});

test("a session is started, listed, prompted, cancelled, restarted and stopped", async (t) => {
  const all = await sessionServer(t);
  const { sessions } = all;
  const started = await ran(all, [
    "sessions",
    "start",
    "claude",
    "--name",
    "shop",
    "--permit",
    "ask",
    "--",
    "Fix",
    "it",
  ]);
  assert.equal(started.code, 0);
  const id = started.out.trim();
  assert.match(started.err, new RegExp(`sessions attach ${id}`));
  assert.deepEqual(sessions.started, [
    { kind: "agent", agent: "claude", cwd: process.cwd(), name: "shop", permit: "ask" },
  ]);
  assert.deepEqual(sessions.all.get(id)?.prompts, [{ text: "Fix it", interrupt: false }]);
  const busy = await ran(all, ["sessions", "prompt", "shop", "--", "More"]);
  assert.deepEqual([busy.code, busy.err], [1, "agent-bridge: the session is busy\n"]);
  assert.deepEqual((await ran(all, ["sessions", "cancel", "shop"])).out, `${id}  idle\n`);
  const listed = await ran(all, ["sessions", "ls", "--live", "--json"]);
  assert.equal(JSON.parse(listed.out).sessions[0].name, "shop");
  assert.match((await ran(all, ["sessions"])).out, new RegExp(`^ID .*\\n${id} +shop +claude +idle `));
  const restarted = await ran(all, ["sessions", "restart", "shop", "--json"]);
  assert.equal(JSON.parse(restarted.out).restartedFrom, id);
  assert.match((await ran(all, ["sessions", "stop", "shop"])).out, /^sess_\w+ {2}ended\n$/);
  assert.equal((await ran(all, ["sessions", "stop", "nothing"])).code, 2);
  assert.equal((await ran(all, ["sessions", "ls", "--live"])).err, "There are no such sessions.\n");
});

test("prompt takes its text from standard input, and waits for the end of the turn when it is told to", async (t) => {
  const all = await sessionServer(t);
  const { sessions } = all;
  sessions.add({ id: "a" });
  const input = new Typist(false);
  input.type(Buffer.from("é first line\r\nsecond\n").subarray(0, 1));
  input.type(Buffer.from("é first line\r\nsecond\n").subarray(1));
  input.end();
  sessions.onPrompt = () => setImmediate(() => sessions.finish("a", "completed"));
  const waited = await ran(all, ["sessions", "prompt", "a", "--wait"], { input });
  assert.deepEqual([waited.code, waited.out], [0, "completed\n"]);
  assert.equal(sessions.all.get("a")?.prompts[0]?.text, "é first line\r\nsecond\n");
  sessions.onPrompt = () => setImmediate(() => sessions.finish("a", "error"));
  const failed = await ran(all, ["sessions", "prompt", "a", "--wait", "--json", "--", "x"]);
  assert.deepEqual([failed.code, JSON.parse(failed.out).reason], [1, "error"]);
  const taken = await ran(all, ["sessions", "prompt", "a", "--json", "--", "x"]);
  assert.deepEqual([taken.code, JSON.parse(taken.out).id], [0, "a"]);
  const empty = new Typist(false);
  empty.end();
  assert.equal((await ran(all, ["sessions", "prompt", "a"], { input: empty })).code, 2);
});

test("a command is typed into: words with a line's end, standard input as it is, and its end", async (t) => {
  const all = await sessionServer(t);
  const { inputs } = all.sessions.add({ id: "c", kind: "command", argv: ["cat"] });
  const input = new Typist(false);
  input.type("raw");
  input.end();
  assert.equal((await ran(all, ["sessions", "input", "c", "--", "two", "words"])).code, 0);
  assert.equal((await ran(all, ["sessions", "input", "c"], { input })).code, 0);
  assert.equal((await ran(all, ["sessions", "input", "c", "--end"], { input: new Typist(true) })).code, 0);
  assert.deepEqual(inputs, [{ text: "two words\n" }, { text: "raw" }, { end: true }]);
});

test("attach replays what was printed, follows it, and ends with the session; elsewhere than on a terminal without escape sequences", async (t) => {
  const all = await sessionServer(t);
  const { output } = all.sessions.add({ id: "a", kind: "command", argv: ["x"], name: "build" });
  output.write("\u001b[31mred\u001b[0m\n\u001b[3");
  const coloured = starting(all, ["sessions", "attach", "build"], { columns: 80, colours: true });
  const plain = starting(all, ["sessions", "attach", "build"], { columns: 80 });
  const piped = starting(all, ["sessions", "attach", "build"]);
  await until(() => output.followers === 3);
  output.write("2mgreen\n");
  await until(() => coloured.terminal.written.out.endsWith("green\n"));
  await all.sessions.stop("a");
  assert.deepEqual([await coloured.code, await plain.code, await piped.code], [0, 0, 0]);
  assert.equal(coloured.terminal.written.out, "\u001b[31mred\u001b[0m\n\u001b[32mgreen\n");
  assert.equal(plain.terminal.written.out, "red\ngreen\n");
  assert.equal(piped.terminal.written.out, "red\ngreen\n");
  assert.equal(plain.terminal.written.err, "Attached to build; Ctrl-C leaves it.\nbuild: ended\n");
  assert.equal(piped.terminal.written.err, "build: ended\n");
});

test("Ctrl-C leaves a session that goes on, and says so", async (t) => {
  const all = await sessionServer(t);
  all.sessions.add({ id: "a" }).output.write("one\n");
  const interrupt = new AbortController();
  const { code, terminal } = starting(all, ["sessions", "--attach", "a"], { interrupted: interrupt.signal });
  await until(() => terminal.written.out === "one\n");
  interrupt.abort();
  assert.equal(await code, 0);
  assert.equal(terminal.written.err, "\nDetached; a goes on.\n");
  assert.equal(all.sessions.all.get("a")?.shown.status, "idle");
});

test("attached to an agent, one is told how to answer its questions", async (t) => {
  const all = await sessionServer(t);
  all.sessions.add({ id: "a", status: "busy" });
  const { code, terminal } = starting(all, ["sessions", "attach", "a"], { columns: 80 });
  await until(() => terminal.written.err !== "");
  all.sessions.ask("a", "t 1", [
    { optionId: "yes", name: "Yes, once", kind: "allow_once" },
    { optionId: "no", name: "No", kind: "reject_once" },
  ]);
  await until(() => terminal.written.err.includes("No:"));
  assert.match(
    terminal.written.err,
    /The agent asks for permission: Remove build\n {2}Yes, once: node \/opt\/agent-bridge\.mjs sessions answer a 't 1' yes\n {2}No: node \/opt\/agent-bridge\.mjs sessions answer a 't 1' no\n/,
  );
  assert.equal((await ran(all, ["sessions", "answer", "a", "t 1", "yes"])).code, 0);
  assert.deepEqual(all.sessions.all.get("a")?.answers, [{ toolCallId: "t 1", optionId: "yes" }]);
  await all.sessions.stop("a");
  assert.equal(await code, 0);
});

test("what is typed goes to a terminal session as it is, its size follows, and Ctrl-] leaves it", async (t) => {
  const all = await sessionServer(t);
  const { inputs, output } = all.sessions.add({ id: "top", kind: "terminal", argv: ["top"] });
  output.write("\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[?7h\u001b[1mtop");
  const input = new Typist(true);
  const { code, terminal } = starting(all, ["sessions", "attach", "top"], { input, columns: 80, colours: true });
  await until(() => inputs.length === 1);
  assert.equal(input.isRaw, true);
  input.type("q\u0003");
  await until(() => inputs.length === 2);
  input.type(Buffer.from("é").subarray(0, 1));
  input.type(Buffer.from("é").subarray(1));
  await until(() => inputs.length === 3);
  input.resize({ columns: 100, rows: 30 });
  await until(() => inputs.length === 4);
  input.type("last\u001dnot this");
  assert.equal(await code, 0);
  assert.deepEqual(inputs, [
    { columns: 80, rows: 24 },
    { text: "q\u0003" },
    { text: "é" },
    { columns: 100, rows: 30 },
    { text: "last" },
  ]);
  assert.equal(input.isRaw, false);
  // The terminal is as it was.
  const undone = "\u001b[?25h\u001b[?1049l\u001b[0m";
  assert.equal(terminal.written.out, `\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[?7h\u001b[1mtop${undone}`);
  assert.match(terminal.written.err, /^Attached to top; Ctrl-\] leaves it\.\n\nDetached; top goes on\.\n$/);
});

test("a terminal that wants no colours gets a terminal session without them, and a pipe gets its text", async (t) => {
  const all = await sessionServer(t);
  const { output } = all.sessions.add({ id: "top", kind: "terminal", argv: ["top"] });
  output.write("\u001b[2J\u001b[1;31mtop\u001b[0m\u001b[Kend");
  await all.sessions.stop("top");
  const onTerminal = await ran(all, ["sessions", "attach", "top"], { columns: 80 });
  assert.equal(onTerminal.out, "\u001b[2Jtop\u001b[Kend");
  assert.equal((await ran(all, ["sessions", "attach", "top"])).out, "topend");
});

test("a server that ends takes its sessions along, and whoever is attached is told", async (t) => {
  const all = await sessionServer(t);
  all.sessions.add({ id: "a" }).output.write("one\n");
  const { code, terminal } = starting(all, ["sessions", "attach", "a"]);
  await until(() => terminal.written.out === "one\n");
  await all.server.close();
  assert.equal(await code, 1);
  assert.equal(terminal.written.err, "agent-bridge: the server has ended, and its sessions with it\n");
});

test("the records of a session are printed for people and for programs, and followed", async (t) => {
  const all = await sessionServer(t);
  all.sessions.add({ id: "a" });
  all.sessions.add({ id: "top", kind: "terminal", argv: ["top"] });
  const send = () => ran(all, ["sessions", "prompt", "a", "--", "Count"]);
  await send();
  all.sessions.say("a", "one\u001b[31m\n");
  assert.equal((await ran(all, ["sessions", "events", "a"])).out, "❯ Count\none\n");
  const seqs = (text: string): number[] =>
    text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).seq);
  assert.deepEqual(seqs((await ran(all, ["sessions", "events", "a", "--json"])).out), [1, 2]);
  assert.deepEqual(seqs((await ran(all, ["sessions", "events", "a", "--json", "--since", "1"])).out), [2]);
  const terminal = await ran(all, ["sessions", "events", "top"]);
  assert.equal(terminal.code, 2);
  assert.match(terminal.err, /^agent-bridge: a terminal session has no chat, so there is nothing to show or export;/);
  assert.equal((await ran(all, ["sessions", "events", "nothing"])).code, 2);
  const interrupt = new AbortController();
  const following = starting(all, ["sessions", "events", "-f", "a", "--json"], { interrupted: interrupt.signal });
  await until(() => following.terminal.written.out.includes('"seq":2'));
  all.sessions.finish("a", "completed");
  await until(() => following.terminal.written.out.includes('"seq":3'));
  interrupt.abort();
  assert.equal(await following.code, 0);
  assert.deepEqual(seqs(following.terminal.written.out), [1, 2, 3]);
});

test("a record that is nested without end is told, and the others are printed", async (t) => {
  const all = await sessionServer(t);
  all.sessions.add({ id: "a" });
  const folder = join(all.home, ".agentproto", "sessions", "a");
  mkdirSync(folder, { recursive: true });
  const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  const records = [
    `{"seq":1,"kind":"tool-result","toolCallId":"t","result":${deep},"isError":false}`,
    '{"seq":2,"kind":"text-delta","text":"after"}',
  ];
  writeFileSync(join(folder, "events.jsonl"), `${records.join("\n")}\n`);
  const { code, out } = await ran(all, ["sessions", "events", "a", "--json"]);
  const [first, second] = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual([code, first.error, second.text], [0, "this record is nested too deeply to be printed", "after"]);
  const shown = await ran(all, ["sessions", "events", "a"]);
  assert.deepEqual([shown.code, shown.out.endsWith("after")], [0, true]);
});

test("the help says what each word does", async () => {
  const { code, out } = await ran({ bridge: {} }, ["sessions", "--help"]);
  assert.equal(code, 0);
  for (const word of [
    "ls",
    "start",
    "prompt",
    "attach",
    "stop",
    "restart",
    "cancel",
    "input",
    "answer",
    "events",
    "export",
  ]) {
    assert.match(out, new RegExp(`\\b${word}\\b`));
  }
});

test("attached to a session that another process drives, one reads what it records, to its end", async (t) => {
  const all = await sessionServer(t);
  const { sessions, record } = all;
  sessions.add({ id: "a", name: "beside", status: "busy" });
  // Nothing of it is printed by this server.
  sessions.output = () => undefined;
  record("a", { seq: 1, kind: "user-prompt", text: "Count" });
  const own = (): OwnSessions =>
    ({
      read: () => ({ sessions: [{ id: "a", kind: "agent", owner: { pid: process.pid + 1 } }], peers: [] }),
    }) as unknown as OwnSessions;
  const bridge = { ...all.bridge, ownSessions: own };
  const { code, terminal } = starting({ bridge }, ["sessions", "attach", "beside"], { columns: 80 });
  await until(() => terminal.written.out.includes("Count"));
  record("a", { seq: 2, kind: "text-delta", text: "one\n" });
  record("a", { seq: 3, kind: "turn-end", reason: "completed" });
  sessions.change("a", { status: "ended" });
  assert.equal(await code, 0);
  assert.equal(terminal.written.out, "❯ Count\none\n── completed ──\n");
  assert.match(terminal.written.err, /^beside is driven by another process: it can only be read here\./);
  sessions.change("a", { status: "busy" });
  const chat = await ran({ bridge }, ["chat", "--session", "beside"]);
  assert.equal(chat.code, 1);
  assert.match(
    chat.err,
    /^agent-bridge: another process drives this session, so it can only be read here: [^\n]* sessions attach a\b/,
  );
});
