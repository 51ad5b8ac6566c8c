import assert from "node:assert/strict";
import { test } from "node:test";
import { COMMANDS } from "../../src/commands/commands.ts";
import { run } from "../../src/commands/run.ts";
import type { SavedSession } from "../../src/peers/own-sessions.ts";
import type { EpochMs } from "../../src/platform/clock.ts";
import type { Environment } from "../../src/platform/environment.ts";
import { Failure } from "../../src/platform/failure.ts";
import { identityOf } from "../../src/platform/process-identity.ts";
import { systemTimer, type Timer } from "../../src/platform/timer.ts";
import type { Store } from "../../src/stores/store.ts";
import type { SessionId } from "../../src/transcript/names.ts";
import { fakeContext, fakeStore, listed, NOW } from "./fake.ts";

const ours: readonly SavedSession[] = [
  { id: "sess_1", kind: "agent", agent: "gemini", name: "shop", cwd: "/w", startedAt: NOW, status: "ended" },
  { id: "sess_2", kind: "terminal", name: "top", cwd: "/w", startedAt: NOW, status: "ended" },
  { id: "sess_3", kind: "agent", name: "$(touch x) `y`", cwd: "/w", startedAt: NOW, status: "ended" },
];

const STORE = fakeStore([
  listed("4f0c", { title: "Fix\n\u001b[31m it\tnow", updatedAt: (NOW + 1) as EpochMs }),
  listed("5a00"),
  listed("5b00", { parent: "4f0c" as SessionId }),
]);

/** The words that are offered in the place of the last of `words`; `asked` is told whose files were asked for. */
async function words(
  given: readonly string[],
  store: Store = STORE,
  asked?: (environment: Environment) => void,
  timer: Timer = systemTimer,
): Promise<string[]> {
  const peer = { agent: "codex", sessionId: null, cwd: "/w", joinedAt: NOW };
  const process_ = identityOf(process.pid);
  assert.ok(process_);
  const peers = [
    { ...peer, name: "front", process: process_ },
    { ...peer, name: "gone", process: { pid: 2 ** 22 + 1 } },
  ];
  const ownSessions = (environment: Environment) => {
    asked?.(environment);
    return { read: () => ({ sessions: ours, peers }) } as never;
  };
  const context = fakeContext([store], { bridge: { ownSessions, timer } });
  const code = await run(context, COMMANDS, ["completion", "--words", "--", ...given]);
  const { out, err } = context.terminal.written;
  assert.deepEqual([code, err], [0, ""]);
  return out.split("\n").slice(0, -1);
}

const values = async (...given: string[]): Promise<string[]> =>
  (await words(given)).map((line) => line.split("\t")[0] ?? "");

test("commands are completed, with what each does", async () => {
  assert.deepEqual(await words(["sho"]), ["show\tprint the chat of a session"]);
  const all = await values("");
  assert.deepEqual(all, [...COMMANDS.map(({ name }) => name), "help"]);
  assert.deepEqual(await values("help", "to"), ["token"]);
  assert.deepEqual(await values("nothing", ""), []);
});

test("options are completed as the help lists them, each once, and only those of the word that says what to do", async () => {
  assert.deepEqual(await values("show", "x", "--"), ["--tail", "--child", "--json", "--home", "--help"]);
  assert.deepEqual(await values("show", "--json", "--child", "a", "--"), ["--tail", "--home", "--help"]);
  assert.deepEqual(await values("sessions", "events", "-"), ["--since", "--follow", "--json", "--home", "--help"]);
  assert.deepEqual(await values("tail", "-fn", "5", "--i"), []);
  assert.deepEqual(await values("tail", "-n5", "--i"), []);
});

test("an option's value is one of its words, however the shell cuts it, or a path", async () => {
  assert.deepEqual(await values("export", "--format", ""), ["markdown", "json", "html"]);
  assert.deepEqual(await values("export", "--format=m"), ["--format=markdown"]);
  assert.deepEqual(await values("export", "--format", "=", "m"), ["markdown"]);
  assert.deepEqual(await values("export", "--format", "="), ["markdown", "json", "html"]);
  assert.deepEqual(await values("export", "--format", "=", "json", "--sour"), ["--source"]);
  assert.deepEqual(await values("ls", "--agent", "cl"), ["claude"]);
  assert.deepEqual(await words(["export", "-o", "x"]), [":file"]);
  assert.deepEqual(await words(["export", "--output=x"]), [":file"]);
  assert.deepEqual(await words(["ls", "--home", ""]), [":folder"]);
  assert.deepEqual(await values("show", "--tail", ""), []);
});

test("sessions are completed by name and id, ours first, with titles that are printable", async () => {
  assert.deepEqual(await words(["show", ""]), [
    "shop\tgemini in /w",
    "sess_1\tshop",
    "sess_3\t$(touch x) `y`",
    "front\tcodex in /w",
    "4f0c\tFix it now",
    "5a00\ttitle of 5a00",
  ]);
  assert.deepEqual(await values("export", "claude/"), ["claude/4f0c", "claude/5a00"]);
  assert.deepEqual(await values("sessions", "stop", "s"), ["shop", "sess_1", "sess_2", "sess_3"]);
  assert.deepEqual(await values("sessions", "--attach", "t"), ["top"]);
  assert.deepEqual(await values("leave", ""), ["front"]);
  assert.deepEqual(await values("show", "4f0c", ""), []);
});

test("events completes what was recorded alone, each once", async () => {
  const recordings = fakeStore(
    [listed("sess_1", { agent: "daemon" }), listed("sess_9", { agent: "daemon" })],
    {},
    { agent: "daemon" },
  );
  for (const command of [["events"], ["sessions", "events"]]) {
    assert.deepEqual(await words([...command, ""], recordings), [
      "shop\tgemini in /w",
      "sess_1\tshop",
      "sess_9\ttitle of sess_9",
    ]);
    assert.deepEqual(await words([...command, ""]), []);
  }
});

test("what would be read as an option or a path is not offered", async () => {
  const store = fakeStore([listed("-f"), listed("=ls"), listed("a=b-")]);
  assert.deepEqual(await words(["show", "a"], store), ["a=b-\ttitle of a=b-"]);
  for (const typed of ["=", "-f"]) assert.deepEqual(await words(["show", typed], store), []);
});

test("a store that can tell its newest sessions is not asked for all of them", async () => {
  const asked: unknown[] = [];
  const newest: Store["newest"] = async (...given) => {
    asked.push(given);
    return [listed("4f0c")];
  };
  const list = () => assert.fail("a whole list");
  assert.deepEqual(await words(["show", "4f"], fakeStore([], {}, { newest, list })), ["4f0c\ttitle of 4f0c"]);
  assert.deepEqual(await words(["show", "claude/4f"], fakeStore([], {}, { newest, list })), [
    "claude/4f0c\ttitle of 4f0c",
  ]);
  assert.deepEqual(await words(["show", "codex/4f"], fakeStore([], {}, { newest, list })), []);
  assert.deepEqual(asked, [
    ["4f", 200],
    ["4f", 200],
  ]);
});

test("words and agents are completed where they stand", async () => {
  assert.deepEqual(await values("completion", ""), ["bash", "zsh", "fish"]);
  assert.deepEqual(await values("jobs", ""), ["ls", "show"]);
  assert.deepEqual(await values("run", "ge"), ["gemini"]);
  assert.deepEqual(await values("sessions", "start", "co"), ["codex"]);
  assert.deepEqual(await values("hook", ""), ["claude"]);
});

test("behind -- nothing is completed: it is another program's, or a text", async () => {
  assert.deepEqual(await values("run", "claude", "--", "--"), []);
  assert.deepEqual(await values("run", "claude", "--", "s"), []);
});

test("the home that stands on the line is asked, and what can't be read keeps nobody from typing", async () => {
  const homes: string[] = [];
  const broken = fakeStore([], {}, { list: async () => Promise.reject(new Failure("unreadable", "locked")) });
  const note = ({ bridgeHome }: Environment): void => void homes.push(bridgeHome);
  assert.equal((await words(["show", "--home", "/x", "4"], broken, note)).length, 0);
  assert.equal((await words(["show", "--home=~/y", "4"], broken, note)).length, 0);
  assert.deepEqual([...new Set(homes)], ["/x", "/home/dev/y"]);
});

test("a store that does not answer is not waited for", async () => {
  const slow = fakeStore([], {}, { list: () => new Promise(() => {}) });
  const soon: Timer = {
    after(_ms, task) {
      const immediate = setImmediate(task);
      return () => clearImmediate(immediate);
    },
  };
  assert.deepEqual((await words(["show", "sh"], slow, undefined, soon)).length, 1);
});

test("no more than the newest 200 are offered", async () => {
  const many = Array.from({ length: 300 }, (_, index) => listed(`a${index}`, { updatedAt: (NOW + index) as EpochMs }));
  const shown = await words(["show", "a"], fakeStore(many));
  assert.deepEqual([shown.length, shown[0]], [200, "a299\ttitle of a299"]);
});

test("a script is printed for each shell, and for no other", async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const context = fakeContext([]);
    assert.equal(await run(context, COMMANDS, ["completion", shell]), 0);
    assert.match(context.terminal.written.out, /node \/opt\/agent-bridge\.mjs completion --words --[ \n]/);
  }
  for (const wrong of [["ksh"], ["bash", "zsh"]]) {
    const context = fakeContext([]);
    assert.equal(await run(context, COMMANDS, ["completion", ...wrong]), 2);
    assert.match(context.terminal.written.err, /^agent-bridge: completion takes one of bash, zsh, fish, not "/);
  }
});
