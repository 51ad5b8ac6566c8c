import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { COMMANDS } from "../../src/commands/commands.ts";
import { run } from "../../src/commands/run.ts";
import type { SavedSession } from "../../src/peers/own-sessions.ts";
import { environmentFrom } from "../../src/platform/environment.ts";
import type { Store } from "../../src/stores/store.ts";
import { type Cursor, START } from "../../src/transcript/cursor.ts";
import type { Entry } from "../../src/transcript/entry.ts";
import type { SessionId } from "../../src/transcript/names.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { withoutPrivilege } from "../platform/privilege.ts";
import { fakeContext, fakeStore, fakeTerminal, listed, NOW, said } from "./fake.ts";

const pos = "j:0:0" as Cursor;
const CHAT: Entry[] = [
  { kind: "user", at: NOW, pos, text: "Fix \u001b[31mit" },
  { kind: "reasoning", at: NOW, pos: "j:1:0" as Cursor, text: "Hmm." },
  { kind: "tool-call", at: NOW, pos: "j:2:0" as Cursor, callId: "c", tool: "Bash", input: { command: "x".repeat(50) } },
  { kind: "tool-result", at: NOW, pos: "j:3:0" as Cursor, callId: "c", tool: "Bash", text: "y".repeat(50) },
  said(4, "Done."),
];
const ours: readonly SavedSession[] = [
  {
    id: "sess_1",
    kind: "agent",
    agent: "claude",
    nativeSessionId: "1b0e",
    name: "shop",
    cwd: "/w",
    startedAt: NOW,
    status: "ended",
  },
  { id: "sess_2", kind: "terminal", name: "top", cwd: "/w", startedAt: NOW, status: "ended" },
];

/** A machine on which Claude Code has the sessions 1b0e and 1b0f, and we have run two; commands run in `folder`. */
function machine(t: TestContext, given: Partial<Store> = {}, other: Entry[] = []) {
  const folder = temporaryFolder(t);
  const store = fakeStore(
    [listed("1b0e"), listed("1b0f")],
    { "1b0e": CHAT, "1b0f": other, a1: [said(0, "child")] },
    {
      totals: async () => ({ tokens: {} }),
      child: async (ref, id) => (id === "a1" ? { ...ref, child: id as SessionId } : undefined),
      ...given,
    },
  );
  const environment = () => environmentFrom({ home: folder, platform: "linux", bridgeHome: join(folder, "own") });
  const ran = async (words: readonly string[], columns?: number, interrupted = new AbortController().signal) => {
    const context = fakeContext([store], {
      ...{ environment, terminal: fakeTerminal(columns), untilInterrupted: () => interrupted },
      bridge: { ownSessions: () => ({ read: () => ({ sessions: ours, peers: [] }) }) as never },
    });
    const code = await run(context, COMMANDS, words);
    return { code, ...context.terminal.written };
  };
  return { folder, at: (name: string) => join(folder, name), ran };
}

const messages = (text: string): { role: string; text?: string; reasoning?: string; cut?: true }[] =>
  JSON.parse(text).messages;

test("a session is exported by id, by its beginning and by name, and sessions export is the same", async (t) => {
  const { ran } = machine(t);
  const whole = (await ran(["export", "claude/1b0e", "--format", "json"])).out;
  assert.deepEqual(
    messages(whole).map(({ role, text }) => [role, text?.slice(0, 5)]),
    [
      ["user", "Fix \u001b"],
      ["assistant", undefined],
      ["tool", "yyyyy"],
      ["assistant", "Done."],
    ],
  );
  for (const words of [["1b0e"], ["shop"], ["sess_1"], ["sess_1", "--source", "native"]]) {
    assert.deepEqual(await ran(["export", "--json", ...words]), { code: 0, out: whole, err: "" });
    assert.deepEqual(await ran(["sessions", "export", "--json", ...words]), { code: 0, out: whole, err: "" });
  }
  assert.match((await ran(["export", "1b0e"])).out, /^# `?title of 1b0e/);
});

test("what is exported is what was asked for: reasoning, a subagent, tools cut short", async (t) => {
  const { ran } = machine(t);
  const json = async (...words: string[]) => messages((await ran(["export", "1b0e", "--json", ...words])).out);
  assert.equal(
    (await json()).some(({ reasoning }) => reasoning !== undefined),
    false,
  );
  assert.equal(
    (await json("--reasoning")).some(({ reasoning }) => reasoning === "Hmm."),
    true,
  );
  assert.deepEqual(
    (await json("--child", "a1")).map(({ text }) => text),
    ["child"],
  );
  assert.equal((await json("--max-tool-chars", "10"))[2]?.text?.length, 10);
  assert.equal((await json("--max-tool-chars", "1"))[2]?.text, "…");
  assert.equal((await json("--max-tool-chars", String(Number.MAX_SAFE_INTEGER)))[2]?.text?.length, 50);
  for (const wrong of ["0", "-1", "1.5", "x", "", "9007199254740992"]) {
    const { code, err } = await ran(["export", "1b0e", `--max-tool-chars=${wrong}`]);
    assert.equal(code, 2);
    assert.match(err, /--max-tool-chars takes a whole number from 1 to 9007199254740991/);
  }
});

test("what can't be exported is refused in one line, and prints nothing", async (t) => {
  const { ran } = machine(t);
  const refused = async (...words: string[]): Promise<string> => {
    const { code, out, err } = await ran(["export", ...words]);
    assert.deepEqual([code, out, err.split("\n").length], [2, "", 2], err);
    return err;
  };
  assert.match(
    await refused("1b"),
    /"1b" may be claude\/1b0e \(title of 1b0e\), claude\/1b0f \(title of 1b0f\); give more/,
  );
  assert.match(await refused("nothing"), /no session "nothing"; see agent-bridge ls/);
  for (const asked of ["top", "sess_2"])
    assert.match(await refused(asked), /a terminal session has no chat, so there is/);
  assert.match(await refused("shop", "--source", "daemon"), /nothing was recorded of this session/);
  assert.match(await refused("1b0e", "--child", "zz"), /has no subagent "zz"/);
  assert.match(await refused("1b0e", "--format", "pdf"), /takes one of markdown, json, html, not "pdf"/);
  assert.match(await refused("1b0e", "--json", "--format", "html"), /--json is not --format html/);
  assert.match(await refused("1b0e", "--force"), /--force is for a file: name it with -o/);
  assert.match(await refused("1b0e", "--force", "-o", "-"), /--force is for a file: name it with -o/);
  assert.match(await refused(), /export needs ID/);
});

test("a file's name says its format, a folder gets a file of the export's own name, and - is stdout", async (t) => {
  const { ran, at, folder } = machine(t);
  const written = async (...words: string[]): Promise<string> => {
    const { code, out, err } = await ran(["export", "1b0e", ...words]);
    assert.deepEqual([code, out], [0, ""], err);
    return err;
  };
  await written("-o", at("a.json"));
  await written("-o", at("a.html"));
  await written("-o", at("a.md"));
  await written("-o", at("a"));
  await written("-o", at("b.MD"), "--format", "json");
  const starts = ["a.json", "a.html", "a.md", "a", "b.MD"].map((name) => readFileSync(at(name), "utf8").slice(0, 2));
  assert.deepEqual(starts, ['{"', "<!", "# ", "# ", '{"']);
  mkdirSync(at("exports"));
  assert.match(await written("-o", `${at("exports")}/`), /exports\/claude-1b0e\.md: \d+ bytes\n$/);
  await written("-o", at("exports"), "--json");
  assert.deepEqual(readdirSync(at("exports")).sort(), ["claude-1b0e.json", "claude-1b0e.md"]);
  assert.match((await ran(["export", "1b0e", "-o", "-"])).out, /^# /);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith(".")),
    [],
  );
});

test("a file is not replaced without --force, and a pipe or device never", async (t) => {
  const { ran, at } = machine(t);
  writeFileSync(at("a.md"), "mine");
  symlinkSync("/dev/null", at("null"));
  symlinkSync("a.md", at("link.md"));
  for (const name of ["a.md", "link.md", "null"]) {
    const { code, out, err } = await ran(["export", "1b0e", "-o", at(name)]);
    assert.deepEqual([code, out], [2, ""]);
    assert.equal(err, `agent-bridge: ${at(name)} is there already: give another name, or --force to replace it\n`);
  }
  assert.equal(readFileSync(at("a.md"), "utf8"), "mine");
  for (const path of ["/dev/null", at("null")]) {
    const { code, err } = await ran(["export", "1b0e", "--force", "-o", path]);
    assert.equal(code, 2);
    assert.match(err, / is no file, so it can't be replaced: leave -o out and use > to write into it\n$/);
  }
  assert.equal((await ran(["export", "1b0e", "--force", "-o", at("link.md")])).code, 0);
  assert.deepEqual([readFileSync(at("a.md"), "utf8"), readFileSync(at("link.md"), "utf8").slice(0, 2)], ["mine", "# "]);
  assert.equal((await ran(["export", "1b0e", "--force", "-o", at("a.md")])).code, 0);
  assert.match(readFileSync(at("a.md"), "utf8"), /^# /);
});

test("where nothing can be written that is said before anything is read", async (t) => {
  const { ran, at } = machine(t, { entries: () => assert.fail("it was read") });
  for (const path of [at("no/a.md"), `${at("no")}/`]) {
    const { code, err } = await ran(["export", "1b0e", "-o", path]);
    assert.equal(code, 2);
    assert.match(err, /^agent-bridge: there is no folder .*\/no\/?: make it first, or give another\n$/);
  }
  writeFileSync(at("file"), "");
  assert.equal((await ran(["export", "1b0e", "-o", at("file/a.md")])).code, 2);
});

test("a folder that may not be written to is told, and nothing is left", async (t) => {
  const { ran, at, folder } = machine(t);
  chmodSync(folder, 0o755);
  mkdirSync(at("out"), { mode: 0o555 });
  assert.deepEqual(await withoutPrivilege(() => ran(["export", "1b0e", "-o", at("out/a.md")])), {
    ...{ code: 1, out: "" },
    err: `agent-bridge: ${at("out/a.md")} can't be written (EACCES): see to its name and its folder's permissions\n`,
  });
  assert.deepEqual(readdirSync(at("out")), []);
});

test("Ctrl-C while it is read leaves no file", async (t) => {
  const interrupt = new AbortController();
  const page = { entries: [said(0, "t0")], uses: [], settled: true };
  const { ran, at, folder } = machine(t, {
    async entries(_ref, from) {
      if (from !== START) interrupt.abort();
      return { ...page, next: `j:${Number(from.split(":")[1] ?? 0) + 1}:0` as Cursor };
    },
  });
  assert.deepEqual(await ran(["export", "1b0e", "-o", at("a.md")], undefined, interrupt.signal), {
    ...{ code: 1, out: "" },
    err: "agent-bridge: interrupted: nothing was written\n",
  });
  assert.deepEqual(
    readdirSync(folder).filter((name) => name !== "own"),
    [],
  );
});

test("to a terminal nothing is printed that acts on it", async (t) => {
  const { ran } = machine(t);
  for (const format of ["markdown", "json", "html"]) {
    const { out } = await ran(["export", "1b0e", "--format", format], 80);
    assert.match(out, /Done\./);
    assert.equal(out.includes("\u001b"), false, format);
  }
});

test("what is too much for the memory waits on the disk of the file, and our own home may be full", async (t) => {
  const { at, ran } = machine(
    t,
    {},
    [0, 1, 2].map((index) => said(index, "x".repeat(9_000_000))),
  );
  writeFileSync(at("own"), "no folder can be made here");
  assert.equal((await ran(["export", "1b0f", "-o", at("a.md")])).code, 0);
  assert.deepEqual(readdirSync(at(".")).sort(), ["a.md", "own"]);
  const { code, err } = await ran(["export", "1b0f"]);
  assert.equal(code, 1);
  assert.match(err, /waits in a file until it is whole, which can't be written \(E\w+\)/);
});
