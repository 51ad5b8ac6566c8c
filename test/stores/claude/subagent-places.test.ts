import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { ClaudeChats } from "../../../src/stores/claude/chats.ts";
import { type Meter, newMeter } from "../../../src/stores/claude/meter.ts";
import type { ClaudePlace } from "../../../src/stores/claude/place.ts";
import type { Cursor } from "../../../src/transcript/cursor.ts";
import type { Entry } from "../../../src/transcript/entry.ts";
import { freshChats, PAGE, placeOf, temporaryFolder, wholeChat } from "./fixtures.ts";
import { Records } from "./records-of.ts";

const SESSION = "44444444-4444-4444-8444-444444444444";
const AGENT = "a0123456789abcdef";
const FAR = 9 * 1024 * 1024;

interface Session {
  readonly place: ClaudePlace;
  readonly records: Records;
}

function session(t: TestContext): Session {
  const projects = join(temporaryFolder(t), "projects");
  mkdirSync(join(projects, "-p", SESSION, "subagents"), { recursive: true });
  const place = placeOf(projects, join(projects, "-p", `${SESSION}.jsonl`));
  writeFileSync(place.file, "");
  return { place, records: new Records(SESSION) };
}

function startAgent(
  { place }: Session,
  at: number,
  { id = AGENT, prompt = "do it", meta }: { id?: string; prompt?: string; meta?: object } = {},
): void {
  const file = join(place.sideFolder, "subagents", `agent-${id}`);
  const timestamp = new Date(at).toISOString();
  const first = {
    isSidechain: true,
    agentId: id,
    sessionId: SESSION,
    type: "user",
    message: { content: prompt },
    timestamp,
  };
  writeFileSync(`${file}.jsonl`, `${JSON.stringify(first)}\n`);
  if (meta !== undefined) writeFileSync(`${file}.meta.json`, JSON.stringify(meta));
}

function notice(id: string): string {
  return `<task-notification><task-id>${id}</task-id><status>completed</status></task-notification>`;
}

/** What a chat shows, when it is read from its start, from its end, and record by record: which is the same. */
async function chatOf({ place, records }: Session): Promise<Entry[]> {
  appendFileSync(place.file, records.take());
  const whole = await wholeChat(freshChats(), place);
  const backward: Entry[] = [];
  const chats = freshChats();
  for (let before: Cursor | "tail" | null = "tail"; before !== null; ) {
    const page = await chats.before(place, before, PAGE);
    backward.unshift(...page.entries);
    before = page.prev;
  }
  assert.deepEqual(backward, whole);
  for (const pos of new Set(whole.map((entry) => entry.pos))) {
    const own = whole.filter((entry) => entry.pos === pos && entry.kind === "subagent");
    const alone = await freshChats().record(place, pos);
    assert.deepEqual(
      alone.filter(({ kind }) => kind === "subagent"),
      own,
    );
  }
  return whole;
}

function kinds(entries: readonly Entry[]): string[] {
  return entries.map((entry) => (entry.kind === "subagent" ? `subagent ${entry.subagent.title}` : entry.kind));
}

for (const [what, toolUseResult] of [
  ["named in its result", { agentId: AGENT }],
  ["known by its meta file alone", undefined],
] as const) {
  test(`a subagent that began late, ${what}, stands at the result of a call more than 8 MiB back, once`, async (t) => {
    const one = session(t);
    one.records.call("toolu_1", "Agent", { description: "job", prompt: "p" });
    startAgent(one, one.records.now() + 5_001, { meta: { toolUseId: "toolu_1", description: "job" } });
    one.records
      .filler(FAR)
      .result("toolu_1", "done", toolUseResult && { toolUseResult })
      .filler(FAR);
    one.records.user(notice(AGENT));
    assert.deepEqual(kinds(await chatOf(one)), ["tool-call", "tool-result", "subagent job"]);
  });
}

test("a subagent that began late stands at a notification more than 8 MiB behind its call", async (t) => {
  const one = session(t);
  one.records.call("toolu_1", "Agent", { prompt: "p" });
  startAgent(one, one.records.now() + 5_001, { meta: { toolUseId: "toolu_1", description: "job" } });
  one.records.filler(FAR).user(notice(AGENT)).user("end");
  assert.deepEqual(kinds(await chatOf(one)), ["tool-call", "subagent job", "user"]);
});

for (const meta of [{ toolUseId: "toolu_1", description: "do it" }, undefined]) {
  test(`a subagent ${meta ? "with" : "without"} a meta file that stands at its call is not told again by what names it 8 MiB later`, async (t) => {
    const one = session(t);
    one.records.call("toolu_1", "Agent", { prompt: "do it" });
    startAgent(one, one.records.now() + 100, { ...(meta && { meta }) });
    one.records
      .filler(FAR)
      .result("toolu_1", "done", { toolUseResult: { agentId: AGENT } })
      .filler(FAR);
    one.records.user(notice(AGENT));
    assert.deepEqual(kinds(await chatOf(one)), ["tool-call", "subagent do it", "tool-result"]);
  });
}

test("a subagent that is named by different records more than 8 MiB apart stands at the first", async (t) => {
  const one = session(t);
  startAgent(one, one.records.now());
  one.records.user(notice(AGENT)).filler(FAR).call("toolu_2", "SendMessage", { to: AGENT });
  one.records
    .result("toolu_2", "sent", { toolUseResult: { agentId: AGENT } })
    .filler(FAR)
    .user(notice(AGENT));
  assert.deepEqual(kinds(await chatOf(one)), ["subagent do it", "tool-call", "tool-result"]);
});

test("what a file's first part says of subagents is read once, and no more than what is appended after that", async (t) => {
  const one = session(t);
  startAgent(one, one.records.now());
  one.records.user(notice(AGENT)).filler(2 * FAR);
  appendFileSync(one.place.file, one.records.take());
  const readBy = async (chats: ClaudeChats, meter: Meter): Promise<number> => {
    const before = meter.bytes;
    await chats.before(one.place, "tail", PAGE);
    return meter.bytes - before;
  };
  const meters = { known: newMeter(), fresh: newMeter() };
  const chats = freshChats(meters.known);
  const append = (): void => appendFileSync(one.place.file, one.records.user(notice(AGENT)).take());
  append();
  await readBy(chats, meters.known);
  append();
  const again = await readBy(chats, meters.known);
  const anew = await readBy(freshChats(meters.fresh), meters.fresh);
  assert.ok(again < anew - 2 * FAR, `${again} bytes, ${anew} when nothing was known`);
});

test("a page with many subagents, whose calls stand far back, lets others have their turns", async (t) => {
  const one = session(t);
  const agents = Array.from({ length: 40 }, (_, n) => ({ id: `a${n}b456789abcdef01`, prompt: `do it ${n}` }));
  for (const [n, { id, prompt }] of agents.entries()) {
    one.records.call(`toolu_${n}`, "Task", { prompt });
    startAgent(one, one.records.now() + 5_001, { id, prompt });
  }
  one.records.filler(7 * 1024 * 1024);
  for (const { id } of agents) one.records.user(notice(id));
  appendFileSync(one.place.file, one.records.take());
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const page = await freshChats().before(one.place, "tail", PAGE);
  isDone = true;
  assert.deepEqual(
    kinds(page.entries),
    agents.map(({ prompt }) => `subagent ${prompt}`),
  );
  // Opening and reading the files takes 13.
  assert.ok(turns >= 18, `${turns} turns`);
});

test("a subagent that only its prompt links to a call, and that began late, stands at the call's result", async (t) => {
  const one = session(t);
  one.records.call("toolu_1", "Task", { prompt: "do it" });
  startAgent(one, one.records.now() + 5_001);
  one.records.filler(200_000).result("toolu_1", "done").user(notice(AGENT));
  assert.deepEqual(kinds(await chatOf(one)), ["tool-call", "tool-result", "subagent do it"]);
  assert.deepEqual(
    (await freshChats().children(one.place)).children.map(({ status }) => status),
    ["done"],
  );
});

test("a subagent that only a result links to its call stands at the result, however soon it began", async (t) => {
  const one = session(t);
  one.records.call("toolu_1", "Task", { prompt: "another prompt" });
  startAgent(one, one.records.now() + 100);
  one.records.result("toolu_1", "done", { toolUseResult: { agentId: AGENT } });
  assert.deepEqual(kinds(await chatOf(one)), ["tool-call", "tool-result", "subagent do it"]);
});

for (const bytes of [700_000, 3_000_000]) {
  test(`a subagent stands at the result of a call of ${bytes} bytes, in its pages as in its records, and is done`, async (t) => {
    const one = session(t);
    one.records.call("toolu_1", "Agent", { description: "job", prompt: "p".repeat(bytes) });
    startAgent(one, one.records.now() + 100, { meta: { toolUseId: "toolu_1", description: "job" } });
    one.records.result("toolu_1", "done").user(notice("another"));
    assert.deepEqual(kinds(await chatOf(one)), ["marker", "tool-result", "subagent job"]);
    assert.deepEqual(
      (await freshChats().children(one.place)).children.map(({ status }) => status),
      ["done"],
    );
  });
}

test("a subagent stands at the notification where its call and its result are both too long to be read", async (t) => {
  const one = session(t);
  one.records.call("toolu_1", "Agent", { prompt: "p".repeat(700_000) });
  startAgent(one, one.records.now() + 100, { meta: { toolUseId: "toolu_1", description: "job" } });
  one.records.result("toolu_1", "r".repeat(700_000)).user(notice(AGENT));
  assert.deepEqual(kinds(await chatOf(one)), ["marker", "marker", "subagent job"]);
});

for (const layout of ["calls in records of their own", "calls in one record"]) {
  test(`of ${layout} with the same prompt each has the subagent that began in its turn`, async (t) => {
    const one = session(t);
    const call = (id: string, description: string) => ({
      type: "tool_use",
      id,
      name: "Task",
      input: { description, prompt: "do it" },
    });
    const calls = [call("toolu_1", "A"), call("toolu_2", "B")];
    const began = one.records.now() + 1000;
    if (layout === "calls in one record") one.records.assistant(calls);
    else for (const each of calls) one.records.assistant([each]);
    startAgent(one, began + 1020, { id: "b2" });
    startAgent(one, began + 10, { id: "b1" });
    one.records.result("toolu_1", "done").result("toolu_2", "no", { toolUseResult: "Error: no" });
    const chat = kinds(await chatOf(one));
    assert.deepEqual(
      chat.filter((kind) => kind !== "tool-result"),
      ["tool-call", "subagent A", "tool-call", "subagent B"],
    );
    const { children } = await freshChats().children(one.place);
    assert.deepEqual(
      children.map(({ id, title, status }) => [id, title, status]),
      [
        ["b2", "B", "failed"],
        ["b1", "A", "done"],
      ],
    );
  });
}

test("a result that stands before any call of its id does not show the subagent of a later one", async (t) => {
  const one = session(t);
  one.records.result("toolu_1", "of another turn").call("toolu_1", "Agent", { prompt: "p" });
  startAgent(one, one.records.now() - 2_000, { meta: { toolUseId: "toolu_1", description: "job" } });
  assert.deepEqual(kinds(await chatOf(one)), ["tool-result", "tool-call", "subagent job"]);
});
