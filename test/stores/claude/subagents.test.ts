import assert from "node:assert/strict";
import { appendFileSync, chmodSync, cpSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import type { EpochMs } from "../../../src/platform/clock.ts";
import { ClaudeChats } from "../../../src/stores/claude/chats.ts";
import { newMeter } from "../../../src/stores/claude/meter.ts";
import type { ClaudePlace } from "../../../src/stores/claude/place.ts";
import { START } from "../../../src/transcript/cursor.ts";
import type { Entry } from "../../../src/transcript/entry.ts";
import { requireSessionId } from "../../../src/transcript/names.ts";
import { copiedProjects, freshChats, PAGE, placeNamed, placeOf, temporaryFolder, wholeChat } from "./fixtures.ts";
import { Records } from "./records-of.ts";

const SESSION = "33333333-3333-4333-8333-333333333333";
const AGENT = "a0123456789abcdef";

/** A session in a folder of its own, with a clock that is held still. */
function session(t: TestContext): { place: ClaudePlace; records: Records; chats: ClaudeChats; clock: { at: number } } {
  const projects = join(temporaryFolder(t), "projects");
  mkdirSync(join(projects, "-p"), { recursive: true });
  const place = placeOf(projects, join(projects, "-p", `${SESSION}.jsonl`));
  const records = new Records(SESSION);
  writeFileSync(place.file, "");
  const clock = { at: records.now() };
  const chats = new ClaudeChats({ clock: { now: () => clock.at as EpochMs }, isLive: () => false });
  return { place, records, chats, clock };
}

function writeAgent(place: ClaudePlace, id: string, at: number, meta?: object): void {
  const folder = join(place.sideFolder, "subagents");
  mkdirSync(folder, { recursive: true });
  const first = { parentUuid: null, isSidechain: true, agentId: id, type: "user", message: { content: "do it" } };
  const line = JSON.stringify({
    ...first,
    uuid: "s1",
    timestamp: new Date(at).toISOString(),
    sessionId: place.session,
  });
  writeFileSync(join(folder, `agent-${id}.jsonl`), `${line}\n`);
  if (meta !== undefined) writeFileSync(join(folder, `agent-${id}.meta.json`), JSON.stringify(meta));
}

function kinds(entries: readonly Entry[]): string[] {
  return entries.map((entry) => (entry.kind === "subagent" ? `subagent ${entry.subagent.id}` : entry.kind));
}

test("a page stops before a young call whose subagent is not there yet, and goes on when it is", async (t) => {
  const { place, records, chats, clock } = session(t);
  appendFileSync(place.file, records.user("go").take());
  const first = await chats.entries(place, START, PAGE);
  records.call("toolu_1", "Agent", { prompt: "do it" });
  clock.at = records.now();
  appendFileSync(place.file, records.user("meanwhile").take());
  clock.at += 100;
  const waiting = await chats.entries(place, first.next, PAGE);
  assert.deepEqual([kinds(waiting.entries), waiting.next, waiting.settled], [[], first.next, false]);
  const tail = await chats.before(place, "tail", PAGE);
  assert.deepEqual([kinds(tail.entries), tail.next, tail.settled], [["user"], first.next, false]);
  writeAgent(place, AGENT, clock.at, { toolUseId: "toolu_1" });
  const page = await chats.entries(place, waiting.next, PAGE);
  assert.deepEqual(kinds(page.entries), ["tool-call", `subagent ${AGENT}`, "user"]);
  assert.equal(page.settled, true);
});

test("a call waits for its subagent for five seconds, no longer", async (t) => {
  const { place, records, chats, clock } = session(t);
  appendFileSync(place.file, records.call("toolu_1", "Agent", { prompt: "do it" }).take());
  for (const [after, shown] of [
    [0, 0],
    [4_999, 0],
    [5_000, 1],
  ] as const) {
    clock.at = records.now() + after;
    assert.equal((await chats.entries(place, START, PAGE)).entries.length, shown, `${after} ms after the call`);
  }
});

test("a subagent stands at its call when it began at most five seconds after it, else at the call's result", async (t) => {
  for (const [after, expected] of [
    [5_000, ["tool-call", `subagent ${AGENT}`, "tool-result"]],
    [5_001, ["tool-call", "tool-result", `subagent ${AGENT}`]],
  ] as const) {
    const { place, records } = session(t);
    records.call("toolu_1", "Agent", { prompt: "do it" });
    writeAgent(place, AGENT, records.now() + after, { toolUseId: "toolu_1" });
    appendFileSync(place.file, records.result("toolu_1", "launched", { toolUseResult: { agentId: AGENT } }).take());
    assert.deepEqual(kinds(await wholeChat(freshChats(), place)), expected);
  }
});

test("a page that has to do with subagents depends on their files, and on the folders they would appear in", async (t) => {
  const { place, records } = session(t);
  appendFileSync(place.file, records.call("toolu_1", "Agent", { prompt: "do it" }).take());
  const names = async (): Promise<string[]> =>
    (await freshChats().entries(place, START, PAGE)).uses.map(({ path }) => basename(path));
  assert.deepEqual(await names(), [basename(place.file), "-p"]);
  writeAgent(place, AGENT, records.now(), { toolUseId: "toolu_1" });
  assert.deepEqual(await names(), [
    basename(place.file),
    "-p",
    SESSION,
    "subagents",
    `agent-${AGENT}.jsonl`,
    `agent-${AGENT}.meta.json`,
  ]);
});

test("what is known of a subagent is not read again", async (t) => {
  const projects = copiedProjects(t);
  const meter = newMeter();
  const chats = freshChats(meter);
  const place = placeNamed(projects, "0a000008");
  await chats.children(place);
  await chats.entries(place, START, PAGE);
  const before = { ...meter };
  await chats.entries(place, START, PAGE);
  assert.equal(meter.opens - before.opens, 1);
  const { parses } = meter;
  await chats.children(place);
  assert.equal(meter.parses, parses);
});

test("a subagent's new state is seen when its files change", async (t) => {
  const { place, records, chats } = session(t);
  records.call("toolu_1", "Agent", { description: "job", prompt: "do it" });
  appendFileSync(place.file, records.take());
  const meta = { toolUseId: "toolu_1", requestShape: "foreground" };
  writeAgent(place, AGENT, records.now(), meta);
  const list = async () => (await chats.children(place)).children.map(({ title, status }) => [title, status]);
  assert.deepEqual(await list(), [["job", "interrupted"]]);
  writeFileSync(
    join(place.sideFolder, "subagents", `agent-${AGENT}.meta.json`),
    JSON.stringify({ ...meta, finished: true }),
  );
  assert.deepEqual(await list(), [["job", "done"]]);
  appendFileSync(place.file, records.result("toolu_1", "no", { toolUseResult: "Error: no" }).take());
  assert.deepEqual(await list(), [["job", "failed"]]);
});

test("a subagent runs only while a process has its session open", async (t) => {
  const { place, records } = session(t);
  appendFileSync(place.file, records.call("toolu_1", "Agent", { prompt: "do it" }).take());
  writeAgent(place, AGENT, records.now(), { toolUseId: "toolu_1", requestShape: "foreground" });
  const status = async (live: boolean) => (await freshChats(undefined, () => live).children(place)).children[0]?.status;
  assert.deepEqual([await status(true), await status(false)], ["running", "interrupted"]);
});

test("a list holds the newest 200 subagents", async (t) => {
  const { place, records, chats } = session(t);
  for (let i = 0; i < 250; i++) writeAgent(place, `a${String(i).padStart(16, "0")}`, records.now() + i * 1000);
  const { children } = await chats.children(place);
  assert.equal(children.length, 200);
  assert.deepEqual([children[0]?.id, children[199]?.id], ["a0000000000000249", "a0000000000000050"]);
  const all = await chats.children(place, Number.POSITIVE_INFINITY);
  assert.deepEqual([all.children.length, all.children.at(-1)?.id], [250, "a0000000000000000"]);
});

test("finding one subagent looks at no other", async (t) => {
  const { place, records, clock } = session(t);
  for (let i = 0; i < 50; i++) writeAgent(place, `a${String(i).padStart(16, "0")}`, records.now() + i * 1000, {});
  const meter = newMeter();
  const chats = new ClaudeChats({ clock: { now: () => clock.at as EpochMs }, isLive: () => false, meter });
  assert.ok(await chats.child(place, requireSessionId("a0000000000000049")));
  // Its transcript, and the meta file beside it.
  assert.equal(meter.opens, 2);
});

test("subagents that name one another as their parent in a circle, and those below them, have none", async (t) => {
  const { place, records, chats } = session(t);
  const ids = ["a1", "a2", "b1", "c1", "c2", "c3"].map((id) => id.padEnd(17, "0"));
  const [a1, a2, b1, c1, c2, c3] = ids;
  const parents = [undefined, a1, b1, c2, c1, c2];
  for (const [index, id] of ids.entries()) {
    writeAgent(place, id, records.now() + index * 1000, { parentAgentId: parents[index] });
  }
  const { children } = await chats.children(place);
  assert.deepEqual(
    children.flatMap(({ id, parent }) => (parent === undefined ? [] : [[id, parent]])),
    [[a2, a1]],
  );
  assert.equal(children.length, [a1, a2, b1, c1, c2, c3].length);
});

test("links among a session's files are not followed: not to other places, nor to other sessions", async (t) => {
  const projects = copiedProjects(t);
  const place = placeNamed(projects, "292c3046");
  const foreign = placeNamed(projects, "7d169a39");
  const own = join(place.sideFolder, "subagents");
  const outside = join(dirname(projects), "outside");
  cpSync(join(foreign.sideFolder, "subagents"), outside, { recursive: true });
  symlinkSync(join(outside, "agent-abd200b885bdb51d0.jsonl"), join(own, "agent-aaaaaaaaaaaaaaaa1.jsonl"));
  symlinkSync(join(foreign.sideFolder, "subagents"), join(own, "more"));
  const ids = async () => (await freshChats().children(place)).children.map(({ id }) => id).sort();
  assert.deepEqual(await ids(), ["a2add81162968c17f", "adf209b1061e00edd"]);
  rmSync(own, { recursive: true });
  for (const target of [outside, join(foreign.sideFolder, "subagents")]) {
    symlinkSync(target, own);
    assert.deepEqual(await ids(), []);
    assert.equal(await freshChats().child(place, requireSessionId("abd200b885bdb51d0")), undefined);
    rmSync(own);
  }
});

test("a subagent's chat is gone when its folder is swapped for a link between the finding and the reading", async (t) => {
  const projects = copiedProjects(t);
  const place = placeNamed(projects, "292c3046");
  const chats = freshChats();
  const child = await chats.child(place, requireSessionId("adf209b1061e00edd"));
  assert.ok(child);
  const outside = join(dirname(projects), "outside");
  renameSync(join(place.sideFolder, "subagents"), outside);
  symlinkSync(outside, join(place.sideFolder, "subagents"));
  await assert.rejects(chats.entries(child, START, PAGE), { kind: "not-found" });
});

const FIRST_RECORDS: readonly (readonly [string, readonly object[]])[] = [
  [
    "a first record over the limit of a page",
    [{ type: "user", message: { content: "p".repeat(700_000) }, timestamp: "2026-01-05T10:00:01.100Z" }],
  ],
  [
    "a first record of several megabytes",
    [{ type: "user", message: { content: "p".repeat(3_000_000) }, timestamp: "2026-01-05T10:00:01.100Z" }],
  ],
  [
    "records without a readable time",
    [
      { type: "user", message: { content: "p" } },
      { type: "assistant", message: { content: "a" }, timestamp: "soon" },
    ],
  ],
  [
    "a page of records that show nothing",
    Array.from({ length: 40 }, () => ({
      type: "attachment",
      attachment: { type: "prompt_snapshot", text: "x".repeat(20_000) },
    })),
  ],
];

for (const [what, lines] of FIRST_RECORDS) {
  test(`a subagent whose file begins with ${what} is listed, placed at its call, and can be read`, async (t) => {
    const { place, records, chats, clock } = session(t);
    records.call("toolu_1", "Agent", { description: "job", prompt: "p" });
    const startedAt = records.now();
    appendFileSync(place.file, records.result("toolu_1", "done", { toolUseResult: { agentId: AGENT } }).take());
    const answer = { type: "assistant", message: { content: [{ type: "text", text: "answer" }] } };
    const text = [...lines, answer].map((line) =>
      JSON.stringify({ isSidechain: true, agentId: AGENT, sessionId: SESSION, ...line }),
    );
    writeAgent(place, AGENT, 0, { toolUseId: "toolu_1" });
    writeFileSync(
      join(place.sideFolder, "subagents", `agent-${AGENT}.jsonl`),
      text.map((line) => `${line}\n`).join(""),
    );
    clock.at += 60_000;
    const { children } = await chats.children(place);
    assert.deepEqual(
      children.map(({ id, title, status }) => [id, title, status]),
      [[AGENT, "job", "done"]],
    );
    assert.ok(Math.abs((children[0]?.startedAt ?? 0) - startedAt) <= 100);
    assert.deepEqual(kinds(await wholeChat(chats, place)), ["tool-call", `subagent ${AGENT}`, "tool-result"]);
    const child = await chats.child(place, requireSessionId(AGENT));
    assert.ok(child);
    const read = await wholeChat(chats, child);
    assert.equal(read.at(-1)?.kind, "assistant");
    assert.equal(
      read.some((entry) => entry.kind === "marker" && entry.marker === "oversized"),
      what.startsWith("a first"),
    );
  });
}

test("a chat shows a subagent as its meta file says now, though that was read before", async (t) => {
  const { place, records, chats } = session(t);
  writeAgent(place, AGENT, records.now(), { toolUseId: "toolu_1", description: "job" });
  appendFileSync(place.file, records.call("toolu_1", "Task", { prompt: "do it" }).result("toolu_1", "done").take());
  const titles = async () =>
    (await wholeChat(chats, place)).flatMap((entry) => (entry.kind === "subagent" ? [entry.subagent.title] : []));
  assert.deepEqual(await titles(), ["job"]);
  writeAgent(place, AGENT, records.now(), { toolUseId: "toolu_1", description: "another" });
  assert.deepEqual(await titles(), ["another"]);
});

test("a file in a session's own folder whose records name another session is no subagent of it", async (t) => {
  const { place, records, chats } = session(t);
  appendFileSync(place.file, records.user("go").take());
  writeAgent({ ...place, session: requireSessionId("77777777-7777-4777-8777-777777777777") }, AGENT, records.now());
  assert.deepEqual((await chats.children(place)).children, []);
  assert.equal(await chats.child(place, requireSessionId(AGENT)), undefined);
});

test("a transcript that was copied under another name keeps its subagents", async (t) => {
  const { place, chats } = session(t);
  const other = requireSessionId("77777777-7777-4777-8777-777777777777");
  const records = new Records(other);
  appendFileSync(place.file, records.user("go").take());
  writeAgent({ ...place, session: other }, AGENT, records.now());
  assert.deepEqual(
    (await chats.children(place)).children.map(({ id }) => id),
    [AGENT],
  );
});

/** What `read` makes where the file modes count: for root they do not. */
async function asNobody<T>(read: () => Promise<T>): Promise<T> {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    return await read();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

test("a folder of subagents that may not be read is told of, and a transcript that may not has no subagents", async (t) => {
  const { place, records, chats } = session(t);
  appendFileSync(place.file, records.user("go").take());
  writeAgent(place, AGENT, records.now());
  const folder = join(place.sideFolder, "subagents");
  chmodSync(dirname(place.root), 0o755);
  chmodSync(folder, 0o000);
  assert.deepEqual((await asNobody(() => chats.children(place))).children, []);
  chmodSync(folder, 0o755);
  const reason = "a folder of subagents can't be read";
  assert.deepEqual(chats.skipped(), [{ reason, count: 1, example: folder }]);
  chmodSync(place.file, 0o000);
  await assert.rejects(
    asNobody(() => chats.children(place)),
    { kind: "not-found" },
  );
  await assert.rejects(
    asNobody(() => chats.child(place, requireSessionId(AGENT))),
    { kind: "not-found" },
  );
});

test("a subagent stands at the first writing of its call alone, also where a copy of that is too far off to be left out", async (t) => {
  const { place, records, chats } = session(t);
  const first = records.user("go").take();
  const call = records.call("toolu_1", "Agent", { prompt: "do it" }).take();
  writeAgent(place, AGENT, records.now() + 1000, { toolUseId: "toolu_1" });
  const apart = records.filler(2 * PAGE.bytes).take();
  appendFileSync(place.file, first + call + apart + call);
  const whole = kinds(await wholeChat(chats, place));
  assert.deepEqual(whole, ["user", "tool-call", `subagent ${AGENT}`, "tool-call"]);
});
