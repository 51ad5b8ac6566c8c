import assert from "node:assert/strict";
import { chmodSync, mkdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { withoutPrivilege } from "../../platform/privilege.ts";
import { answer, type ClaudeHome, claudeHome, type Line, prompt, sessionId } from "./claude-home.ts";

const id = sessionId(1);
const file = `${id}.jsonl`;
const filler = (bytes: number): Line => ({ type: "attachment", attachment: { type: "date", pad: "x".repeat(bytes) } });

async function only(home: ClaudeHome) {
  const rows = await home.store().list("sweep");
  assert.equal(rows.length, 1);
  return rows[0];
}

test("a row says what the first and the last records say", async (t) => {
  const home = claudeHome(t);
  const path = home.write("-home-dev-proj", file, [
    { type: "queue-operation", operation: "enqueue", timestamp: "2026-11-30T08:59:59.000Z", content: "x" },
    prompt("Fix the login"),
    answer("m1", { output_tokens: 1 }),
    answer("m2", undefined, {
      cwd: "/home/dev/proj/sub",
      gitBranch: "fix",
      timestamp: "2026-11-30T09:10:00.000Z",
      message: { model: "<synthetic>" },
    }),
    { type: "last-prompt", lastPrompt: "Fix the login", sessionId: id },
  ]);
  assert.deepEqual(await only(home), {
    agent: "claude",
    id,
    title: "Fix the login",
    cwd: "/home/dev/proj",
    branch: "fix",
    startedAt: Date.parse("2026-11-30T08:59:59.000Z"),
    updatedAt: Date.parse("2026-11-30T09:10:00.000Z"),
    bytes: statSync(path).size,
    model: "claude-sonnet-5",
    resume: { command: ["claude", "--resume", id], cwd: "/home/dev/proj" },
  });
});

const custom = (title: string): Line => ({ type: "custom-title", customTitle: title, sessionId: id });
const ai = (title: string): Line => ({ type: "ai-title", aiTitle: title, sessionId: id });
const last = (text: string): Line => ({ type: "last-prompt", lastPrompt: text, sessionId: id });
const summary = (text: string): Line => ({ type: "summary", summary: text, leafUuid: "l" });
const content = (blocks: unknown): Line => prompt("", { message: { role: "user", content: blocks } });

const TITLES: readonly (readonly [string, readonly Line[], string])[] = [
  ["the last custom title wins over all", [custom("old"), ai("made"), custom("mine"), last("p"), prompt("x")], "mine"],
  ["a custom title that was taken back is none", [custom("mine"), ai("made"), custom("")], "made"],
  ["a made title wins over prompts", [prompt("x"), ai("made"), last("p")], "made"],
  ["the last prompt wins over summaries", [summary("sum"), prompt("x"), last("p"), last("q")], "q"],
  ["a summary wins over the first prompt", [summary("of another"), prompt("x"), summary("sum")], "sum"],
  ["a summary that is the whole file is a title", [summary("only")], "only"],
  ["the first prompt that was typed", [prompt("meta", { isMeta: true }), prompt("typed"), prompt("later")], "typed"],
  ["a compaction's summary is no prompt", [prompt("sum", { isCompactSummary: true }), prompt("typed")], "typed"],
  ["a sidechain's prompt is not the user's", [prompt("a"), prompt("side", { isSidechain: true })], "a"],
  ["a tool's result is no prompt", [content([{ type: "tool_result", content: "r" }]), prompt("typed")], "typed"],
  ["text blocks and plain strings are prompts", [content([{ type: "image" }, "look"])], "look"],
  [
    "a slash command is a title only without a prompt",
    [prompt("<command-name>/init</command-name>\n<command-args></command-args>"), prompt("typed")],
    "typed",
  ],
  [
    "a slash command alone, with what it was given",
    [
      prompt(
        "<command-message>x</command-message>\n<command-name>/review</command-name>\n<command-args>12</command-args>",
      ),
    ],
    "/review 12",
  ],
  ["a shell line", [prompt("<bash-input>git status</bash-input>")], "!git status"],
  ["what the IDE put before a prompt is left out", [prompt("<ide_opened_file>f</ide_opened_file>\ndo it")], "do it"],
  ["reminders alone are no prompt", [prompt("<system-reminder>r</system-reminder>"), prompt("typed")], "typed"],
  ["an interruption is no prompt", [prompt("[Request interrupted by user]"), prompt("typed")], "typed"],
  ["a title is one line", [custom("a\n\n  b\tc ")], "a b c"],
  ["a title has at most 160 characters", [custom("x".repeat(200))], `${"x".repeat(159)}…`],
  ["a picture alone is what it is", [content([{ type: "image" }])], "[image]"],
  ["a prompt's words win over a picture before them", [content([{ type: "image" }]), prompt("typed")], "typed"],
  [
    "a command that the client itself ran",
    [{ type: "system", subtype: "local_command", content: "<command-name>/cost</command-name>" }],
    "/cost",
  ],
  [
    "a prompt behind what shows without one",
    [answer("m", {}), content([{ type: "image" }, { type: "text", text: "" }])],
    "[image]",
  ],
  ["an answer without a prompt has no title", [answer("m", {})], "Untitled"],
  ["titles of the wrong type are none", [{ type: "ai-title", aiTitle: 7 }, prompt("typed")], "typed"],
  [
    "a title inside a tool's input is none",
    [prompt("typed", { x: { type: "custom-title", customTitle: "no" } })],
    "typed",
  ],
  ["a broken line is passed over", ['{"type":"custom-title","customTitle":"cut', prompt("typed")], "typed"],
];

for (const [what, lines, title] of TITLES) {
  test(`title: ${what}`, async (t) => {
    const home = claudeHome(t);
    home.write("p", file, lines);
    assert.equal((await only(home))?.title, title);
  });
}

test("a title near the start of a long file is found, and one in its middle is not looked for", async (t) => {
  const home = claudeHome(t);
  home.write("p", file, [ai("start"), filler(200_000), ai("middle"), filler(200_000), prompt("end")]);
  assert.equal((await only(home))?.title, "start");
});

test("a first prompt behind the first 64 KiB is found, up to 512 KiB, when nothing else gives a title", async (t) => {
  const home = claudeHome(t);
  home.write("p", file, [filler(100_000), filler(100_000), prompt("far"), filler(300_000)]);
  assert.equal((await only(home))?.title, "far");
  assert.equal(home.work().reads, 3);
});

test("a long file in which nothing says what it is about is listed nevertheless", async (t) => {
  const home = claudeHome(t);
  home.write("p", file, [filler(700_000), prompt("too far"), filler(100_000)]);
  assert.equal((await only(home))?.title, "Untitled");
});

test("the end of a line that is cut at the start of the last 64 KiB still gives its time, folder and branch", async (t) => {
  const home = claudeHome(t);
  home.write("p", file, [
    prompt("start"),
    filler(100_000),
    prompt("x".repeat(100_000), { timestamp: "2026-11-30T10:00:00.000Z", gitBranch: "late", cwd: "/elsewhere" }),
    last("mine"),
  ]);
  const row = await only(home);
  assert.equal(row?.updatedAt, Date.parse("2026-11-30T10:00:00.000Z"));
  assert.equal(row?.branch, "late");
});

test("times, folders and branches inside a payload are not the record's", async (t) => {
  const home = claudeHome(t);
  const payload = { timestamp: "2001-01-01T00:00:00.000Z", cwd: "/wrong", gitBranch: "wrong", version: "0" };
  home.write("p", file, [
    { type: "file-history-snapshot", snapshot: { timestamp: "2001-01-01T00:00:00.000Z" }, isSnapshotUpdate: false },
    { toolUseResult: payload, ...(prompt("a", { gitBranch: "right" }) as object) },
    { ...(prompt("b", { gitBranch: "right" }) as object), toolUseResult: payload },
    { type: "pr-link", nested: payload },
  ]);
  const row = await only(home);
  assert.equal(row?.startedAt, Date.parse("2026-11-30T09:00:00.000Z"));
  assert.equal(row?.updatedAt, Date.parse("2026-11-30T09:00:00.000Z"));
  assert.equal(row?.cwd, "/home/dev/proj");
  assert.equal(row?.branch, "right");
});

test("the key order of 1.x is read, too", async (t) => {
  const home = claudeHome(t);
  home.write("-old", file, [
    `{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"C:\\\\git\\\\\\"q\\"","sessionId":"s","version":"1.0.31","gitBranch":"","type":"user","message":{"role":"user","content":"${"y".repeat(6000)}"},"uuid":"u","timestamp":"2025-06-01T00:00:00.000Z"}`,
  ]);
  const row = await only(home);
  assert.equal(row?.cwd, 'C:\\git\\"q"');
  assert.equal(row?.branch, undefined);
  assert.equal(row?.startedAt, Date.parse("2025-06-01T00:00:00.000Z"));
});

test("records with spaces behind their colons, as a copying program writes them, are read too", async (t) => {
  const home = claudeHome(t);
  const lines = [prompt("Fix the login"), answer("m1", { output_tokens: 1 }), filler(200_000), custom("mine")];
  const spaced = lines.map((line) => JSON.stringify(line, null, 1).replace(/\n\s*/g, " "));
  home.write("-home-dev-proj", file, spaced);
  const row = await only(home);
  assert.deepEqual([row?.title, row?.cwd, row?.model], ["mine", "/home/dev/proj", "claude-sonnet-5"]);
});

test("a long file that holds no record at all is not listed", async (t) => {
  const home = claudeHome(t);
  home.write("-home-dev-proj", file, ["noise ".repeat(50_000)]);
  assert.deepEqual(await home.store().list("sweep"), []);
});

test("a file without any time takes the file's, and a time from the far future is not believed", async (t) => {
  const home = claudeHome(t);
  const at = new Date("2026-01-02T03:04:05.000Z");
  home.write("p", file, [summary("only")], at);
  home.write("p", `${sessionId(2)}.jsonl`, [prompt("x", { timestamp: "9999-01-01T00:00:00.000Z" })], at);
  const rows = await home.store().list("sweep");
  assert.deepEqual(
    rows.map((row) => [row.startedAt, row.updatedAt]),
    [
      [at.getTime(), at.getTime()],
      [at.getTime(), at.getTime()],
    ],
  );
});

test("a session is resumed in the folder that its project folder is named after", async (t) => {
  const home = claudeHome(t);
  home.write("-p--claude-worktrees-f", file, [
    prompt("a", { cwd: "/p" }),
    { type: "relocated", sessionId: id, relocatedCwd: "/p/.claude/worktrees/f" },
    prompt("b", { cwd: "/p/.claude/worktrees/f/deep" }),
  ]);
  home.write("-q", `${sessionId(2)}.jsonl`, [prompt("a", { cwd: "/q/deep/er" })]);
  home.write("by-a-wrapper", `${sessionId(3)}.jsonl`, [prompt("a", { cwd: "/r" })]);
  const rows = await home.store().list("sweep");
  const resume = new Map(rows.map((row) => [row.id, row.resume?.cwd]));
  assert.equal(resume.get(id), "/p/.claude/worktrees/f");
  assert.equal(resume.get(sessionId(2)), "/q");
  assert.equal(resume.get(sessionId(3)), "/r");
});

test("a half-written last line says nothing yet", async (t) => {
  const home = claudeHome(t);
  const path = home.write("p", file, [prompt("a")]);
  writeFileSync(path, '{"type":"custom-title","customTitle":"half"}', { flag: "a" });
  assert.equal((await only(home))?.title, "a");
});

test("what is not listed is counted, by reason, with one place", async (t) => {
  const home = claudeHome(t);
  const outside = join(home.home, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, file), `${JSON.stringify(prompt("secret"))}\n`);
  const listed = home.write("p", `${sessionId(9)}.jsonl`, [prompt("shown")]);
  const side = home.write("p", `${sessionId(2)}.jsonl`, [prompt("warm-up", { isSidechain: true })]);
  const bare = home.write("p", `${sessionId(3)}.jsonl`, [
    { type: "mode", mode: "normal" },
    prompt("m", { isMeta: true }),
  ]);
  const named = home.write("p", "notes.jsonl", [prompt("n")]);
  home.write("p", "agent-0a1b2c3d.jsonl", [prompt("old subagent", { isSidechain: true })]);
  const folder = join(home.projects, "p", `${sessionId(4)}.jsonl`);
  mkdirSync(folder);
  const link = join(home.projects, "p", file);
  symlinkSync(join(outside, file), link);
  symlinkSync(outside, join(home.projects, "linked"));
  const older = home.write("q", `${sessionId(9)}.jsonl`, [prompt("older")], new Date(0));
  writeFileSync(join(home.projects, "a-file"), "");
  const store = home.store();
  const rows = await store.list("sweep");
  assert.deepEqual(
    rows.map((row) => [row.id, row.title]),
    [[sessionId(9), "shown"]],
  );
  const { skipped, sessions, roots, formats } = await store.report();
  assert.deepEqual(
    new Map(skipped.map((one) => [one.reason, [one.count, one.example]])),
    new Map<string, unknown>([
      ["a link that leads out of the store", [2, join(home.projects, "linked")]],
      ["not named by a session id", [1, named]],
      ["a subagent's transcript", [1, side]],
      ["no conversation in it", [1, bare]],
      ["not a regular file", [1, folder]],
      ["an older copy of a session in another folder", [1, older]],
    ]),
  );
  assert.deepEqual([sessions, roots, formats], [1, [{ path: home.projects, found: true }], ["2.1.332"]]);
  rmSync(listed);
  assert.equal((await store.list("sweep"))[0]?.title, "older");
});

test("a file that begins with a subagent's record is listed when it shows something of its own", async (t) => {
  const home = claudeHome(t);
  const side = prompt("side", { isSidechain: true, agentId: "a1" });
  home.write("p", file, [side, prompt("main")]);
  home.write("p", `${sessionId(2)}.jsonl`, [side, filler(200_000), prompt("late"), answer("m", {})]);
  home.write("p", `${sessionId(3)}.jsonl`, [side, filler(200_000), { type: "ai-title", aiTitle: "made" }]);
  const rows = await home.store().list("sweep");
  assert.deepEqual(
    rows.map((row) => [row.id, row.title]),
    [
      [id, "main"],
      [sessionId(2), "late"],
    ],
  );
});

test("links inside the store are followed, and lead to each session once", async (t) => {
  const home = claudeHome(t);
  home.write("p", file, [prompt("one")]);
  symlinkSync(join(home.projects, "p"), join(home.projects, "alias"));
  mkdirSync(join(home.projects, "q"));
  symlinkSync(join(home.projects, "p", file), join(home.projects, "q", `${sessionId(2)}.jsonl`));
  const rows = await home.store().list("sweep");
  assert.deepEqual(rows.map((row) => row.id).sort(), [id, sessionId(2)]);
});

test("a store that is not there, or that is a file, is an empty list", async (t) => {
  const home = claudeHome(t);
  rmSync(home.projects, { recursive: true });
  const store = home.store();
  assert.deepEqual(await store.list("sweep"), []);
  assert.deepEqual((await store.report()).roots, [{ path: home.projects, found: false }]);
  writeFileSync(home.projects, "");
  assert.deepEqual(await store.list("sweep"), []);
});

test("a session is listed when it shows anything at all", async (t) => {
  const home = claudeHome(t);
  const queued = { type: "queued_command", commandMode: "prompt", prompt: "steer it" };
  const records: [Line, string | undefined][] = [
    [{ type: "attachment", attachment: queued }, "steer it"],
    [{ type: "system", subtype: "api_error", error: { formatted: "overloaded" } }, "Untitled"],
    [{ type: "user", message: { content: "[Request interrupted by user]" } }, "Untitled"],
    [{ type: "system", subtype: "local_command", content: "Set model" }, "Untitled"],
    [{ type: "user", message: { content: [{ type: "tool_result", tool_use_id: "t", content: "x" }] } }, "Untitled"],
    [{ type: "user", isMeta: true, message: { content: "a skill" } }, undefined],
    [{ type: "attachment", attachment: { type: "prompt_snapshot", systemPrompt: ["x"] } }, undefined],
    [{ type: "mode", mode: "normal" }, undefined],
  ];
  for (const [n, [record]] of records.entries()) home.write("p", `${sessionId(n)}.jsonl`, [record]);
  const titles = new Map((await home.store().list("sweep")).map(({ id, title }) => [id, title]));
  assert.deepEqual(
    records.map((_, n) => titles.get(sessionId(n))),
    records.map(([, title]) => title),
  );
});

test("the text of a first prompt that is longer than is read gives the title", async (t) => {
  const home = claudeHome(t);
  const data = "A".repeat(600_000);
  const contents: [unknown, string][] = [
    [
      [
        { type: "text", text: 'look at "this"' },
        { type: "image", source: { type: "base64", data } },
      ],
      'look at "this"',
    ],
    [`a book: ${data}`, `a book: ${"A".repeat(151)}…`],
    [[{ type: "image", source: { type: "base64", data } }], "[image]"],
  ];
  for (const [n, [content]] of contents.entries()) {
    const record = {
      parentUuid: null,
      type: "user",
      message: { role: "user", content },
      timestamp: "2026-11-30T09:00:00Z",
    };
    home.write("p", `${sessionId(n)}.jsonl`, [record]);
  }
  const titles = new Map((await home.store().list("sweep")).map(({ id, title }) => [id, title]));
  assert.deepEqual(
    contents.map((_, n) => titles.get(sessionId(n))),
    contents.map(([, title]) => title),
  );
});

test("a project folder that can't be read is told of by every list, until it can be", async (t) => {
  const home = claudeHome(t);
  home.write("closed", file, [prompt("hidden")]);
  const folder = join(home.projects, "closed");
  utimesSync(folder, 1_700_000_000, 1_700_000_000);
  for (const above of [home.projects, dirname(home.projects), dirname(dirname(home.projects))]) chmodSync(above, 0o755);
  chmodSync(folder, 0o000);
  const store = home.store();
  await withoutPrivilege(async () => {
    for (const look of ["first", "second"]) {
      assert.deepEqual(await store.list("sweep"), [], look);
      const reason = "a folder that could not be read";
      assert.deepEqual((await store.report()).skipped, [{ reason, count: 1, example: folder }], look);
    }
  });
  chmodSync(folder, 0o755);
  assert.equal((await store.list("sweep")).length, 1);
  assert.deepEqual((await store.report()).skipped, []);
});

test("a session whose first record is very long did not begin after it was last written in", async (t) => {
  const home = claudeHome(t);
  home.write("-home-dev-proj", file, [prompt("x".repeat(200_000)), answer("m1", { output_tokens: 1 })]);
  const row = await only(home);
  assert.equal(row?.updatedAt, Date.parse("2026-11-30T09:00:05.000Z"));
  assert.equal(row?.startedAt, row?.updatedAt);
});
