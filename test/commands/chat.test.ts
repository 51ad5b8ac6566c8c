import assert from "node:assert/strict";
import { test } from "node:test";
import { COMMANDS } from "../../src/commands/commands.ts";
import { run } from "../../src/commands/run.ts";
import type { FakeSession } from "../support/fake-sessions.ts";
import { type SessionServer, sessionServer } from "../support/session-server.ts";
import { until } from "../support/turns.ts";
import { type FakeTerminal, fakeContext, fakeTerminal } from "./fake.ts";
import { Typist } from "./typist.ts";

interface Chatting {
  readonly code: Promise<number>;
  readonly terminal: FakeTerminal;
  readonly input: Typist;
}

/** Starts `chat` beside the test, with someone at the terminal or a pipe. */
function chatting({ bridge }: Pick<SessionServer, "bridge">, words: readonly string[], isTyped: boolean): Chatting {
  const input = new Typist(isTyped);
  const terminal = fakeTerminal(isTyped ? 80 : undefined);
  const context = fakeContext([], { bridge, terminal, input, interrupts: input.interrupts });
  return { code: run(context, COMMANDS, ["chat", ...words]), terminal, input };
}

/** An agent that answers each prompt with its text in capitals. */
function answering({ sessions }: SessionServer, reason = "completed"): void {
  sessions.onPrompt = ({ shown: { id } }, text) =>
    setImmediate(() => {
      sessions.say(id, `${text.toUpperCase()}\n`);
      sessions.finish(id, reason);
    });
}

const prompts = (text: string): number => text.split("> ").length - 1;

/** The session that a chat has started. */
async function startedBy({ sessions }: SessionServer): Promise<FakeSession> {
  await until(() => sessions.all.size === 1);
  return [...sessions.all.values()][0] ?? assert.fail();
}

test("what is typed is a prompt, its turn is printed as it comes, and /exit ends the session that was started", async (t) => {
  const all = await sessionServer(t);
  answering(all);
  const { code, terminal, input } = chatting(all, ["claude", "--name", "shop", "--model", "m-1"], true);
  const session = await startedBy(all);
  input.type("one\n\n  \ntwo\n");
  await until(() => terminal.written.out.includes("TWO"));
  input.type("/exit\n");
  assert.equal(await code, 0);
  assert.deepEqual(
    session.prompts.map(({ text }) => text),
    ["one", "two"],
  );
  assert.equal(terminal.written.out, "ONE\n── completed ──\nTWO\n── completed ──\n");
  assert.match(terminal.written.err, /^shop \(sess_\w+\); \/exit leaves it\.\n/);
  assert.equal(session.shown.status, "ended");
  assert.deepEqual(all.sessions.started, [
    { kind: "agent", agent: "claude", cwd: process.cwd(), name: "shop", model: "m-1", permit: "ask" },
  ]);
});

test("from a pipe each line is a prompt, without prompt characters, and the last turn decides the exit code", async (t) => {
  for (const [reason, expected] of [
    ["completed", 0],
    ["error", 1],
    ["max_turns", 1],
  ] as const) {
    const all = await sessionServer(t);
    answering(all, reason);
    const { code, terminal, input } = chatting(all, ["claude"], false);
    input.type("one\r\n\ntwo");
    input.end();
    assert.equal(await code, expected, reason);
    const [session] = [...all.sessions.all.values()];
    assert.deepEqual(
      session?.prompts.map(({ text }) => text),
      ["one", "two"],
    );
    assert.equal(terminal.written.out, `ONE\n── ${reason} ──\nTWO\n── ${reason} ──\n`);
    assert.equal(terminal.written.err, "");
    assert.deepEqual([session?.shown.status, session?.shown.permit], ["ended", "deny"]);
  }
});

test("a pipe that brings nothing is no failure", async (t) => {
  const all = await sessionServer(t);
  const { code, input } = chatting(all, ["claude"], false);
  input.end();
  assert.equal(await code, 0);
});

test("Ctrl-C cancels the turn that runs; at an empty prompt, twice, it ends the chat", async (t) => {
  const all = await sessionServer(t);
  const { code, terminal, input } = chatting(all, ["claude"], true);
  const session = await startedBy(all);
  input.type("long\n");
  await until(() => session.prompts.length === 1);
  input.interrupt("stop");
  await until(() => terminal.written.out.includes("cancelled"));
  assert.equal(session.shown.status, "idle");
  await until(() => prompts(terminal.written.err) === 2);
  input.interrupt("stop");
  await until(() => terminal.written.err.includes("Ctrl-C again, or /exit"));
  assert.notEqual(session.shown.status, "ended");
  input.interrupt("stop");
  assert.equal(await code, 0);
  assert.equal(session.shown.status, "ended");
});

test("a line between two Ctrl-C's at the prompt lets the chat go on", async (t) => {
  const all = await sessionServer(t);
  answering(all);
  const { code, terminal, input } = chatting(all, ["claude"], true);
  await until(() => prompts(terminal.written.err) === 1);
  input.interrupt("stop");
  await until(() => terminal.written.err.includes("Ctrl-C again"));
  input.type("one\n");
  await until(() => terminal.written.out.includes("completed"));
  input.interrupt("stop");
  await until(() => terminal.written.err.split("Ctrl-C again").length === 3);
  input.type("/exit\n");
  assert.equal(await code, 0);
});

test("asked to end, the chat ends at once, and so does its session", async (t) => {
  const all = await sessionServer(t);
  const { code, input } = chatting(all, ["claude"], true);
  const session = await startedBy(all);
  input.type("long\n");
  await until(() => session.prompts.length === 1);
  input.interrupt("end");
  assert.equal(await code, 0);
  assert.equal(session.shown.status, "ended");
});

test("a question for permission is asked here and answered by number, id or name; what is no option is asked again", async (t) => {
  const all = await sessionServer(t);
  const { sessions } = all;
  const options = [
    { optionId: "yes", name: "Yes, once", kind: "allow_once" },
    { optionId: "no", name: "No", kind: "reject_once" },
  ];
  const { code, terminal, input } = chatting(all, ["claude"], true);
  const session = await startedBy(all);
  for (const [call, typed] of [
    ["t1", "2"],
    ["t2", "yes"],
    ["t3", "  yes, ONCE "],
  ] as const) {
    const asked = terminal.written.err.split("Answer with").length;
    input.type("go\n");
    await until(() => session.shown.status === "busy");
    sessions.ask(session.shown.id, call, options);
    await until(() => terminal.written.err.split("Answer with").length > asked);
    input.type("perhaps\n");
    await until(() => terminal.written.err.includes("Not an option; there are: 1 yes, 2 no\n"));
    input.type(`${typed}\n`);
    await until(() => session.answers.some(({ toolCallId }) => toolCallId === call));
    sessions.finish(session.shown.id, "completed");
    await until(() => terminal.written.out.split("completed").length === session.answers.length + 1);
  }
  assert.deepEqual(
    session.answers.map(({ optionId }) => optionId),
    ["no", "yes", "yes"],
  );
  const shown =
    /The agent asks for permission: Remove build\n {2}1 {2}Yes, once \(yes\)\n {2}2 {2}No \(no\)\nAnswer with/;
  assert.match(terminal.written.err, shown);
  input.end();
  assert.equal(await code, 0);
});

test("a question that another answers is asked no more", async (t) => {
  const all = await sessionServer(t);
  const { sessions } = all;
  const { code, terminal, input } = chatting(all, ["claude"], true);
  const session = await startedBy(all);
  const { id } = session.shown;
  input.type("go\n");
  await until(() => session.shown.status === "busy");
  sessions.ask(id, "t1", [{ optionId: "yes", name: "Yes", kind: "allow_once" }]);
  await until(() => terminal.written.err.includes("Answer with"));
  await sessions.answer(id, "t1", "yes");
  await until(() => terminal.written.out.includes("allowed (yes)"));
  sessions.finish(id, "completed");
  await until(() => terminal.written.out.includes("completed"));
  input.type("next\n");
  await until(() => session.prompts.length === 2);
  sessions.finish(id, "completed");
  input.type("/exit\n");
  assert.equal(await code, 0);
});

test("one can go on with a live session, which is left at work; what others ask it is shown", async (t) => {
  const all = await sessionServer(t);
  const { sessions } = all;
  answering(all);
  const session = sessions.add({ id: "a", name: "shop", agent: "claude" });
  const { code, terminal, input } = chatting(all, ["--session", "shop"], true);
  input.type("one\n");
  await until(() => terminal.written.out.includes("ONE"));
  await until(() => prompts(terminal.written.err) === 2);
  await sessions.prompt("a", "from elsewhere");
  await until(() => session.shown.status === "idle");
  input.type("two\n");
  await until(() => terminal.written.out.includes("TWO"));
  input.type("/exit\n");
  assert.equal(await code, 0);
  assert.equal(session.shown.status, "idle");
  assert.match(terminal.written.err, /shop goes on\.\n$/);
  assert.match(terminal.written.out, /❯ from elsewhere\nFROM ELSEWHERE\n/);
  assert.doesNotMatch(terminal.written.out, /❯ (one|two)/);
});

test("a busy session is told to who types, and fails a pipe", async (t) => {
  const all = await sessionServer(t);
  all.sessions.add({ id: "a", status: "busy" });
  const typed = chatting(all, ["--session", "a"], true);
  typed.input.type("one\n");
  await until(() => typed.terminal.written.err.includes("(The turn goes on: prompt again when it has ended"));
  typed.input.end();
  assert.equal(await typed.code, 0);
  const piped = chatting(all, ["--session", "a"], false);
  piped.input.type("one\n");
  assert.equal(await piped.code, 1);
  assert.equal(piped.terminal.written.err, "agent-bridge: the session is busy\n");
});

test("a session that dies in mid-turn ends the chat, and so does a server that ends", async (t) => {
  const all = await sessionServer(t);
  const { sessions } = all;
  const first = chatting(all, ["claude"], true);
  const session = await startedBy(all);
  first.input.type("go\n");
  await until(() => session.shown.status === "busy");
  sessions.finish(session.shown.id, "exited");
  sessions.change(session.shown.id, { status: "failed", error: "the agent ended with code 3" });
  assert.equal(await first.code, 1);
  assert.match(first.terminal.written.err, /The session has ended \(failed\): the agent ended with code 3\n$/);

  const second = chatting(all, ["claude", "--name", "b"], true);
  await until(() => sessions.all.size === 2);
  const live = [...sessions.all.values()].at(-1) ?? assert.fail();
  second.input.type("go\n");
  await until(() => live.shown.status === "busy");
  sessions.say(live.shown.id, "begun\n");
  await until(() => second.terminal.written.out !== "");
  await all.server.close();
  assert.equal(await second.code, 1);
  assert.match(
    second.terminal.written.err,
    /leaves it\.\n> agent-bridge: the server has ended, and its sessions with it\n$/,
  );
});

test("the records of the turns are printed as JSON when that is asked", async (t) => {
  const all = await sessionServer(t);
  answering(all);
  const { code, terminal, input } = chatting(all, ["claude", "--json"], false);
  input.type("one\ntwo\n");
  input.end();
  assert.equal(await code, 0);
  const kinds = terminal.written.out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).kind);
  assert.deepEqual(kinds, ["user-prompt", "text-delta", "turn-end", "user-prompt", "text-delta", "turn-end"]);
});

test("what can't be talked with is refused", async (t) => {
  const all = await sessionServer(t);
  all.sessions.add({ id: "term", kind: "terminal", argv: ["top"] });
  all.sessions.add({ id: "dead", status: "ended" });
  for (const [words, expected] of [
    [[], 2],
    [["claude", "--session", "a"], 2],
    [["--session", "a", "--cwd", "/w"], 2],
    [["--session", "nothing"], 2],
    [["--session", "term"], 2],
    [["--session", "dead"], 1],
    [["claude", "--permit", "perhaps"], 2],
    [["claude", "--cwd", "/nowhere/at/all"], 2],
  ] as const) {
    const { code, terminal } = chatting(all, words, true);
    assert.equal(await code, expected, words.join(" "));
    assert.match(terminal.written.err, /^agent-bridge: [^\n]+\n$/);
  }
  const nobody = chatting({ bridge: { running: async () => undefined } }, ["claude"], true);
  assert.equal(await nobody.code, 1);
  assert.match(nobody.terminal.written.err, /no server runs on this home/);
});

const YES_NO = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
];

test("what was typed before a question stood there does not answer it, nor is it a prompt", async (t) => {
  const all = await sessionServer(t);
  const { sessions } = all;
  const { code, terminal, input } = chatting(all, ["claude"], true);
  const session = await startedBy(all);
  input.type("go\n");
  input.type("yes\n1\n");
  await until(() => session.shown.status === "busy");
  sessions.ask(session.shown.id, "t1", YES_NO);
  await until(() => terminal.written.err.includes("Answer with"));
  assert.match(terminal.written.err, /\(What was typed before the question is dropped\.\)\nAnswer with/);
  input.type("no\n");
  await until(() => session.answers.length > 0);
  assert.deepEqual(session.answers, [{ toolCallId: "t1", optionId: "no" }]);
  sessions.finish(session.shown.id, "completed");
  input.type("/exit\n");
  assert.equal(await code, 0);
  assert.equal(session.prompts.length, 1);
});

test("a question that waits already is shown to who goes on with the session, and answered there", async (t) => {
  const all = await sessionServer(t);
  const { sessions } = all;
  const session = sessions.add({ id: "a", permit: "ask" });
  await sessions.prompt("a", "from elsewhere");
  sessions.ask("a", "t1", YES_NO);
  const { code, terminal, input } = chatting(all, ["--session", "a"], true);
  await until(() => terminal.written.err.includes("Answer with"));
  assert.match(terminal.written.err, /The agent asks for permission: Remove build\n {2}1 {2}Yes \(yes\)\n/);
  input.type("1\n");
  await until(() => session.answers.length === 1);
  sessions.say("a", "done\n");
  sessions.finish("a", "completed");
  await until(() => prompts(terminal.written.err) === 1);
  assert.match(terminal.written.out, /done\n── completed ──\n$/);
  input.type("/exit\n");
  assert.equal(await code, 0);
});

test("Ctrl-C cancels the turn that runs also when the chat has not started it", async (t) => {
  const all = await sessionServer(t);
  const { sessions } = all;
  const session = sessions.add({ id: "a" });
  await sessions.prompt("a", "from elsewhere");
  const { code, terminal, input } = chatting(all, ["--session", "a"], true);
  await until(() => terminal.written.err.includes("A turn is running"));
  input.interrupt("stop");
  await until(() => prompts(terminal.written.err) === 1);
  assert.equal(session.shown.status, "idle");
  await sessions.prompt("a", "again");
  input.interrupt("stop");
  await until(() => session.shown.status === "idle");
  await until(() => prompts(terminal.written.err) === 2);
  input.type("/exit\n");
  assert.equal(await code, 0);
});

test("a chat that is interrupted while its session starts leaves none behind", async (t) => {
  for (const words of [
    ["chat", "claude"],
    ["sessions", "start", "claude"],
  ]) {
    const all = await sessionServer(t);
    const { sessions } = all;
    const other = sessions.add({ id: "other", agent: "claude", cwd: process.cwd(), status: "starting" });
    let up = (): void => {};
    const start = sessions.start.bind(sessions);
    sessions.start = async (what) => {
      const shown = await start(what);
      await new Promise<void>((resolve) => {
        up = resolve;
      });
      return shown;
    };
    const input = new Typist(true);
    const terminal = fakeTerminal(80);
    const context = fakeContext([], { bridge: all.bridge, terminal, input, interrupts: input.interrupts });
    const code = run(context, COMMANDS, words);
    await until(() => sessions.all.size === 2);
    input.interrupt("end");
    assert.equal(await code, 1);
    const started = [...sessions.all.values()].at(-1) ?? assert.fail();
    assert.deepEqual([started.shown.status, other.shown.status], ["ended", "starting"]);
    assert.match(
      terminal.written.err,
      /^agent-bridge: interrupted: the session sess_\d+, which was being started, was ended\n$/,
    );
    up();
  }
});

test("what goes wrong in a turn is told beside the output where that is kept", async (t) => {
  const all = await sessionServer(t);
  const { sessions } = all;
  sessions.onPrompt = ({ shown: { id } }) =>
    setImmediate(() => {
      all.record(id, { seq: 2, kind: "error", error: { message: "quota\u001b[2J exceeded" } });
      const session = sessions.all.get(id) ?? assert.fail();
      session.seq = 2;
      sessions.finish(id, "error");
    });
  const { code, terminal, input } = chatting(all, ["claude"], false);
  input.type("go\n");
  input.end();
  assert.equal(await code, 1);
  assert.deepEqual(terminal.written, { out: "── error ──\n", err: "error: quota exceeded\n" });
});
