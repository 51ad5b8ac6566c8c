import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { COMMANDS } from "../../src/commands/commands.ts";
import { run } from "../../src/commands/run.ts";
import type { Environment } from "../../src/platform/environment.ts";
import { Failure } from "../../src/platform/failure.ts";
import { Pages } from "../../src/stores/pages.ts";
import type { Cursor } from "../../src/transcript/cursor.ts";
import type { Entry } from "../../src/transcript/entry.ts";
import type { SessionId } from "../../src/transcript/names.ts";
import { type FakeTerminal, fakeContext, fakeStore, fakeTerminal, listed, NOW, said } from "./fake.ts";

process.env.TZ = "UTC";

const pos = "j:0:0" as Cursor;
const call = "j:1:0" as Cursor;
const earlier = "j:9:0" as Cursor;
const CHAT: Entry[] = [
  { kind: "user", at: NOW, pos, text: "Fix it.\n\n" },
  { kind: "tool-call", at: NOW, pos: call, tool: "Bash", input: { command: "npm test" } },
  { kind: "tool-result", at: NOW, pos, tool: "Bash", of: call, text: "one\u001b[2J\ntwo\n", isError: true },
  { kind: "tool-result", at: NOW, pos, tool: "Read", of: earlier, text: "late" },
  { kind: "subagent", at: NOW, pos, subagent: { id: "a1" as SessionId, title: "Look around", agent: "claude" } },
  said(4, "Done."),
];

async function ran(words: readonly string[], chat = CHAT): Promise<{ code: number; out: string; err: string }> {
  const store = fakeStore([listed("1b0e"), listed("1b0f"), listed("2c7f")], {
    "1b0e": chat,
    "2c7f": [said(0, "other")],
  });
  const context = fakeContext([store]);
  const code = await run(context, COMMANDS, words);
  return { code, ...context.terminal.written };
}

test("a chat is printed for reading, and no output in it can act on the terminal", async () => {
  assert.deepEqual((await ran(["show", "1b0e"])).out.split("\n"), [
    "title of 1b0e",
    "claude/1b0e · ~/shop · 2026-11-30 09:24:00",
    "",
    "── 2026-11-30 ──",
    "",
    "user  09:24:00",
    "Fix it.",
    "",
    "Bash  09:24:00  npm test",
    "│ failed",
    "│ one",
    "│ two",
    "",
    "Read  09:24:00",
    "│ late",
    "",
    "subagent  09:24:00  Look around  --child a1",
    "",
    "assistant  09:24:04",
    "Done.",
    "",
  ]);
});

test("--json prints the items, one a line", async () => {
  const { out } = await ran(["show", "claude/1b0e", "--json"]);
  assert.deepEqual(
    out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).kind),
    ["user", "tool", "tool", "tool", "subagent", "assistant"],
  );
});

test("--tail prints the last items, across pages", async () => {
  const { out } = await ran(["show", "1b0e", "--tail", "3", "--json"]);
  assert.deepEqual(out.match(/"kind":"\w+"/g), ['"kind":"tool"', '"kind":"subagent"', '"kind":"assistant"']);
});

test("tail prints the last ten; -n 0 none", async () => {
  const chat = Array.from({ length: 25 }, (_, index) => said(index, `t${index}`));
  const { out } = await ran(["tail", "1b0e", "--json"], chat);
  assert.deepEqual(out.match(/t\d+/g), ["t15", "t16", "t17", "t18", "t19", "t20", "t21", "t22", "t23", "t24"]);
  assert.equal((await ran(["tail", "-n", "0", "1b0e"], chat)).out, "");
});

test("a session is named by the beginning of its id, if no other begins so", async () => {
  assert.match((await ran(["show", "2c"])).out, /other/);
  assert.deepEqual(await ran(["show", "1b"]), {
    code: 2,
    out: "",
    err: 'agent-bridge: "1b" may be claude/1b0e (title of 1b0e), claude/1b0f (title of 1b0f); give more of the id\n',
  });
});

for (const asked of ["9", "codex/1b0e", "nobody/1b0e", "../1b0e", "claude/", "a b", ""]) {
  test(`nothing is named ${JSON.stringify(asked)}`, async () => {
    const err = `agent-bridge: no session "${asked}"; see agent-bridge ls\n`;
    assert.deepEqual(await ran(["show", asked]), { code: 2, out: "", err });
  });
}

test("a subagent is shown under its own session alone", async () => {
  const child = { id: "a1b2" as SessionId, title: "", status: "done", startedAt: NOW, updatedAt: NOW } as const;
  const store = fakeStore(
    [listed("1b0e"), listed("2c7f")],
    { a1b2: [said(0, "child")] },
    {
      children: async (ref) => ({ children: ref.id === "1b0e" ? [child] : [], uses: [], settled: true }),
      child: async (ref, id) => (ref.id === "1b0e" && id === child.id ? { ...ref, child: id } : undefined),
    },
  );
  const shown = async (...words: string[]): Promise<string> => {
    const context = fakeContext([store]);
    await run(context, COMMANDS, ["show", ...words]);
    return context.terminal.written.out + context.terminal.written.err;
  };
  assert.match(await shown("1b0e", "--child", "a1"), /child/);
  assert.equal(await shown("2c7f", "--child", "a1b2"), 'agent-bridge: 2c7f has no subagent "a1b2"; it has none\n');
  assert.equal(await shown("1b0e", "--child", "zz"), 'agent-bridge: 1b0e has no subagent "zz"; it has a1b2\n');
});

test("tail -f prints what is added until it is interrupted, and nothing twice", async () => {
  const chat = [said(0, "t0"), said(1, "t1")];
  const interrupt = new AbortController();
  const watch = async function* (): AsyncGenerator<void> {
    chat.push(said(2, "t2"));
    yield;
    chat.push(said(3, "t3"), said(4, "t4"), said(5, "t5"));
    yield;
    await new Promise(() => {});
  };
  const terminal = fakeTerminal();
  const interrupting: FakeTerminal = {
    ...terminal,
    async out(text) {
      await terminal.out(text);
      if (String(text).includes("t5")) interrupt.abort();
    },
  };
  const store = fakeStore([listed("1b0e")], { "1b0e": chat }, { watch });
  const context = fakeContext([store], { terminal: interrupting, untilInterrupted: () => interrupt.signal });
  assert.equal(await run(context, COMMANDS, ["tail", "-f", "-n", "1", "--json", "1b0e"]), 0);
  assert.deepEqual(terminal.written.out.match(/t\d+/g), ["t1", "t2", "t3", "t4", "t5"]);
});

test("tail -f waits for a transcript that has gone, then says so and exits 1", async () => {
  const gone = new Failure("not-found", "no such transcript");
  let reads = 0;
  const entries = async (): Promise<never> => {
    reads++;
    throw gone;
  };
  const watch = async function* (): AsyncGenerator<void> {};
  const store = fakeStore([listed("1b0e")], { "1b0e": [said(0, "t0")] }, { entries, watch });
  const timer = {
    after(_: number, task: () => void) {
      const soon = setImmediate(task);
      return () => clearImmediate(soon);
    },
  };
  const tools = { pages: new Pages({ now: () => NOW }), timer };
  const context = fakeContext([store], { untilInterrupted: () => new AbortController().signal });
  const { histories } = context.bridge;
  const bridge = { histories: async (home: Environment) => ({ ...(await histories(home)), tools }) };
  const following = fakeContext([store], { untilInterrupted: () => new AbortController().signal, bridge });
  assert.equal(await run(following, COMMANDS, ["tail", "-f", "-n", "0", "1b0e"]), 1);
  assert.equal(
    following.terminal.written.err,
    "agent-bridge: the transcript is gone, so nothing more will come of it\n",
  );
  assert.equal(reads, 21);
});

test("what is printed does not begin with an empty line", async () => {
  assert.match((await ran(["tail", "1b0e"])).out, /^── 2026-11-30 ──\n\nuser {2}09:24:00\nFix it\.\n/);
  assert.match(
    (await ran(["show", "1b0e", "--tail", "1"])).out,
    /^title of 1b0e\n[^\n]+\n\n── 2026-11-30 ──\n\nassistant/,
  );
});

test("a subagent's chat stands under its own title", async () => {
  const child = {
    id: "a1b2" as SessionId,
    title: "Look \u200baround",
    status: "done" as const,
    startedAt: NOW,
    updatedAt: NOW,
  };
  const store = fakeStore(
    [listed("1b0e")],
    { a1b2: [said(0, "child")] },
    {
      children: async () => ({ children: [child], uses: [], settled: true }),
      child: async (ref, id) => (id === "a1b2" ? { ...ref, child: id } : undefined),
    },
  );
  const context = fakeContext([store]);
  assert.equal(await run(context, COMMANDS, ["show", "1b0e", "--child", "a1b2"]), 0);
  assert.match(context.terminal.written.out, /^Look around\nclaude\/1b0e --child a1b2 · 2026-11-30 09:24:00\n\n──/);
});

test("a name that nobody gave is the one that a server that runs has made, else the one that is made now", async (t) => {
  const peer = { agent: "claude", cwd: "/home/dev/shop", startedAt: NOW };
  const peers = [{ ...peer, name: "claude-shop-2", sessionId: "2c7f" }];
  const server = createServer((_, response) => {
    response.setHeader("Content-Type", "application/json").end(JSON.stringify({ peers }));
  });
  t.after(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const notice = { url: `http://127.0.0.1:${port}`, port, pid: process.pid, start: undefined, bootNonce: "" };
  const live = [{ id: "2c7f" as SessionId, pid: process.pid, cwd: peer.cwd, startedAt: NOW }];
  const store = fakeStore([listed("2c7f")], { "2c7f": [said(0, "other")] }, { live: async () => live });
  const shown = async (name: string, running?: typeof notice): Promise<number> => {
    const bridge = { running: async () => running, key: async () => "0f".repeat(24) };
    return run(fakeContext([store], { bridge }), COMMANDS, ["show", name]);
  };
  assert.deepEqual([await shown("claude-shop"), await shown("claude-shop-2")], [0, 2]);
  assert.deepEqual([await shown("claude-shop", notice), await shown("claude-shop-2", notice)], [2, 0]);
  const gone = { ...notice, url: "http://127.0.0.1:1", port: 1 };
  assert.equal(await shown("claude-shop", gone), 0);
});
