import assert from "node:assert/strict";
import { test } from "node:test";
import { COMMANDS } from "../../src/commands/commands.ts";
import { run } from "../../src/commands/run.ts";
import type { EpochMs } from "../../src/platform/clock.ts";
import type { Listed } from "../../src/stores/store.ts";
import type { SessionId } from "../../src/transcript/names.ts";
import { fakeContext, fakeStore, fakeTerminal, listed, NOW } from "./fake.ts";

const minutesAgo = (minutes: number): EpochMs => (NOW - minutes * 60_000) as EpochMs;

const SESSIONS: readonly Listed[] = [
  listed("1b0e4c52-8f6d-4b7e-9a41-0d5f3c2e7a10", { title: "Fix the redirect", updatedAt: minutesAgo(190) }),
  listed("2c7f9d13-4a5b-4c8d-8e62-1f6a4d3b8c21", {
    title: "a\u001b[31mb\nc",
    cwd: "/srv/api",
    updatedAt: minutesAgo(5),
  }),
  listed("3d8a0e24-5b6c-4d9e-9f73-2a7b5e4c9d32", {
    title: "説明書を日本語に翻訳する",
    cwd: "/home/dev/翻訳",
    live: { pid: 7, activity: "busy" },
  }),
  listed("a5", {
    title: "helper",
    parent: "1b0e4c52-8f6d-4b7e-9a41-0d5f3c2e7a10" as SessionId,
    updatedAt: minutesAgo(191),
  }),
];

async function ls(
  words: readonly string[],
  columns?: number,
  sessions = SESSIONS,
): Promise<{ out: string; err: string }> {
  const context = fakeContext([fakeStore(sessions)], { terminal: fakeTerminal(columns) });
  assert.equal(await run(context, COMMANDS, ["ls", ...words]), 0);
  return context.terminal.written;
}

const ids = (out: string): string[] => JSON.parse(out).transcripts.map(({ id }: { id: string }) => id.slice(0, 2));

test("on a terminal the table fits: ids are short, paths lose their start, titles their end", async () => {
  assert.deepEqual((await ls(["--children"], 50)).out.split("\n"), [
    "ID        AGENT   UPDATED     FOLDER    TITLE",
    "3d8a0e24  claude  live, busy  ~/翻訳    説明書を…",
    "2c7f9d13  claude  5 min       /srv/api  ab c",
    "1b0e4c52  claude  3 h         ~/shop    Fix the r…",
    "a5        claude  3 h         ~/shop    ↳ helper",
    "",
  ]);
});

test("elsewhere nothing is cut", async () => {
  assert.deepEqual((await ls([])).out.split("\n").slice(0, 2), [
    "ID                                    AGENT   UPDATED     FOLDER    TITLE",
    "3d8a0e24-5b6c-4d9e-9f73-2a7b5e4c9d32  claude  live, busy  ~/翻訳    説明書を日本語に翻訳する",
  ]);
});

test("short ids are as long as it takes to tell the sessions apart", async () => {
  const { out } = await ls([], 60, [listed("abcdefgh-1"), listed("abcdefgh-2")]);
  assert.deepEqual(out.match(/^abc\S+/gm), ["abcdefgh-1", "abcdefgh-2"]);
});

test("the filters are those of the API", async () => {
  const json = async (...words: string[]): Promise<string[]> => ids((await ls([...words, "--json"])).out);
  assert.deepEqual(await json(), ["3d", "2c", "1b"]);
  assert.deepEqual(await json("--children"), ["3d", "2c", "1b", "a5"]);
  assert.deepEqual(await json("--live"), ["3d"]);
  assert.deepEqual(await json("--project", "/home/dev"), ["3d", "1b"]);
  assert.deepEqual(await json("--q", "SRV"), ["2c"]);
  assert.deepEqual(await json("--agent", "codex"), []);
});

test("a limit tells how many more there are", async () => {
  const { out, err } = await ls(["--limit", "1"], 80);
  assert.deepEqual([out.split("\n").length, err], [3, "2 more; --limit 3 lists all\n"]);
  assert.equal(JSON.parse((await ls(["--limit", "1", "--json"])).out).total, 3);
});

test("an empty list says where to look on", async () => {
  assert.deepEqual(await ls([], 80, []), {
    out: "",
    err: "There are no sessions; agent-bridge doctor says where they are looked for.\n",
  });
});

test("an agent that there is not is refused", async () => {
  const context = fakeContext([]);
  assert.equal(await run(context, COMMANDS, ["ls", "--agent", "gpt"]), 2);
  assert.match(context.terminal.written.err, /^agent-bridge: --agent takes one of claude, codex, .*, not "gpt"/);
});

test("when nothing matches, the filters are named", async () => {
  assert.equal(
    (await ls(["--agent", "codex", "--q", "tea"], 80)).err,
    'No session of codex with "tea" in title or folder, of 4; --children lists subagents\' sessions too.\n',
  );
  assert.equal(
    (await ls(["--project", "/nowhere", "--live", "--children"], 80)).err,
    "No session in /nowhere or below that a process has open now, of 4.\n",
  );
});
