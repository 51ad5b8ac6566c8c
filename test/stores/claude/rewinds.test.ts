import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ClaudeChats } from "../../../src/stores/claude/chats.ts";
import { newMeter } from "../../../src/stores/claude/meter.ts";
import type { ClaudePlace } from "../../../src/stores/claude/place.ts";
import type { Cursor } from "../../../src/transcript/cursor.ts";
import type { Entry } from "../../../src/transcript/entry.ts";
import { EXPORT_RECORD_BYTES } from "../../../src/transcript/limits.ts";
import { copiedProjects, freshChats, PAGE, placeNamed, placeOf, temporaryFolder, wholeChat } from "./fixtures.ts";
import { Records } from "./records-of.ts";

test("no rewind is told in what the real program wrote: parallel calls and queued prompts take nothing back", async (t) => {
  const projects = copiedProjects(t);
  for (const id of ["1f9ef738", "3f0276c6", "292c3046", "03c770f3", "7d169a39", "1cff4ceb", "a3e34ca9", "c1e80b69"]) {
    const entries = await wholeChat(freshChats(), placeNamed(projects, id));
    assert.equal(entries.filter((entry) => entry.kind === "marker" && entry.marker === "rewind").length, 0, id);
  }
});

test("a rewind is told however far back the turns are that it takes back, up to 8 MiB", async (t) => {
  for (const [bytes, told] of [
    [6 * 1024 * 1024, 1],
    [9 * 1024 * 1024, 0],
  ] as const) {
    const records = new Records("44444444-4444-4444-8444-444444444444");
    records.user("one").assistant([{ type: "text", text: "1" }]);
    const parentUuid = records.last();
    records
      .user("two")
      .assistant([{ type: "text", text: "2" }])
      .filler(bytes);
    const start = records.text().length;
    const projects = temporaryFolder(t);
    const file = join(projects, "-p", `${records.session}.jsonl`);
    mkdirSync(join(projects, "-p"));
    writeFileSync(file, records.user("instead", { parentUuid }).text());
    const { entries } = await freshChats().entries(placeOf(projects, file), `j:${start}:0` as Cursor, PAGE);
    assert.equal(entries.filter((entry) => entry.kind === "marker").length, told, `${bytes} bytes`);
  }
});

for (const [name, parentOf] of [
  ["no parents", () => null],
  ["one parent for all", (n: number) => (n === 0 ? null : "u0")],
  ["parents all over the page", (n: number) => (n === 0 ? null : `u${(n * 7919) % n}`)],
] as const) {
  test(`a page of prompts with ${name} and no answer is looked through once, not once a prompt`, async (t) => {
    const lines = Array.from({ length: 600 }, (_, n) =>
      JSON.stringify({ type: "user", uuid: `u${n}`, parentUuid: parentOf(n), message: { content: `prompt ${n}` } }),
    );
    const meter = newMeter();
    const projects = temporaryFolder(t);
    const file = join(projects, "44444444-4444-4444-8444-444444444444.jsonl");
    writeFileSync(file, `${lines.join("\n")}\n`);
    const { entries } = await freshChats(meter).before(placeOf(projects, file), "tail", PAGE);
    assert.equal(entries.length, 600);
    assert.ok(meter.parses <= 2 * 600 + 10, `${meter.parses} parses`);
  });
}

const QUEUED = { type: "queued_command", commandMode: "prompt", prompt: "steer" };
const answer = [{ type: "text", text: "ok" }];

for (const [name, prompt, write] of [
  [
    "the first prompt of several",
    "two",
    (records: Records) => {
      records.user("one").assistant(answer);
      const parentUuid = records.last();
      records.user("two").assistant(answer).user("three").assistant(answer).user("instead", { parentUuid });
    },
  ],
  [
    "a prompt far above",
    "two",
    (records: Records) => {
      records.user("one").assistant(answer);
      const parentUuid = records.last();
      records.user("two").assistant(answer).filler(1_000_000).user("instead", { parentUuid });
    },
  ],
  [
    "the first of all, when nothing is left",
    "one",
    (records: Records) =>
      records.user("one").assistant(answer).user("two").assistant(answer).user("instead", { parentUuid: null }),
  ],
  [
    "a prompt that was taken in mid-turn, where it was queued",
    "steer",
    (records: Records) => {
      records.user("one").assistant(answer);
      const parentUuid = records.last();
      records.raw({ type: "attachment", attachment: QUEUED }).assistant(answer).user("two").assistant(answer);
      records.user("instead", { parentUuid });
    },
  ],
  [
    "a prompt that was queued and then followed, where it was queued, far above",
    "steer",
    (records: Records) => {
      records.user("one").assistant(answer).raw({ type: "attachment", attachment: QUEUED }).filler(30_000);
      const parentUuid = records.last();
      records.user("steer").assistant(answer).filler(700_000).user("instead", { parentUuid });
    },
  ],
] as const) {
  test(`a rewind tells where what it takes back begins: ${name}`, async (t) => {
    const records = new Records("44444444-4444-4444-8444-444444444444");
    write(records);
    const projects = temporaryFolder(t);
    const file = join(projects, "-p", `${records.session}.jsonl`);
    mkdirSync(join(projects, "-p"));
    writeFileSync(file, records.text());
    const place = placeOf(projects, file);
    const whole = await wholeChat(freshChats(), place);
    const taken = whole.filter((entry) => entry.kind === "user" && entry.text === prompt).map(({ pos }) => pos);
    assert.deepEqual(rewindsOf(whole), taken);
    assert.equal(taken.length, 1);
    assert.deepEqual(rewindsOf(await wholeChat(freshChats(), place, { ...PAGE, bytes: 24_000 })), taken);
    const mark = whole.find((entry) => entry.kind === "marker" && entry.marker === "rewind");
    assert.ok(mark);
    assert.deepEqual(rewindsOf((await freshChats().entries(place, mark.pos, PAGE)).entries), taken);
    assert.deepEqual(rewindsOf((await freshChats().before(place, "tail", { ...PAGE, bytes: 2_000 })).entries), taken);
  });
}

/** Where what each rewind takes back begins. */
function rewindsOf(entries: readonly Entry[]): (Cursor | undefined)[] {
  return entries.flatMap((entry) => (entry.kind === "marker" && entry.marker === "rewind" ? [entry.takesBack] : []));
}

/** The whole chat as an export reads it: what goes far back is asked for alone. */
async function exported(chats: ClaudeChats, place: ClaudePlace): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (const entry of await wholeChat(chats, place)) {
    const isFar = entry.kind === "user" && entry.goesFarBack === true;
    entries.push(...(isFar ? await chats.record(place, entry.pos, EXPORT_RECORD_BYTES) : [entry]));
  }
  return entries;
}

const FAR = 9 * 1024 * 1024;

for (const [name, prompt, write] of [
  [
    "a prompt, and what followed",
    "two",
    (records: Records) => {
      records.user("one").assistant(answer);
      const parentUuid = records.last();
      records.user("two").assistant(answer).filler(FAR).user("three").assistant(answer).user("instead", { parentUuid });
    },
  ],
  [
    "all there is",
    "one",
    (records: Records) =>
      records
        .user("one")
        .assistant(answer)
        .filler(FAR)
        .user("two")
        .assistant(answer)
        .user("instead", { parentUuid: null }),
  ],
  [
    "a prompt that was taken in mid-turn, where it was queued",
    "steer",
    (records: Records) => {
      records.user("one").assistant(answer);
      const parentUuid = records.last();
      records.raw({ type: "attachment", attachment: QUEUED }).assistant(answer).user("two").assistant(answer);
      records.filler(FAR).user("instead", { parentUuid });
    },
  ],
] as const) {
  test(`turns taken back from more than 8 MiB before are told to an export, and chats show no mark: ${name}`, async (t) => {
    const records = new Records("44444444-4444-4444-8444-444444444444");
    write(records);
    const place = placeOfRecords(temporaryFolder(t), records);
    const taken = (await wholeChat(freshChats(), place)).filter(({ kind }) => kind === "user");
    assert.deepEqual(rewindsOf(taken), []);
    const start = taken.find((entry) => entry.kind === "user" && entry.text === prompt)?.pos;
    assert.deepEqual(rewindsOf(await exported(freshChats(), place)), [start]);
    const last = taken.at(-1)?.pos as Cursor;
    assert.deepEqual(
      (await freshChats().record(place, last)).map(({ kind }) => kind),
      ["user"],
    );
    assert.deepEqual(
      (await freshChats().record(place, last, EXPORT_RECORD_BYTES)).map(({ kind }) => kind),
      ["marker", "user"],
    );
  });
}

for (const [name, write] of [
  [
    "nothing was answered in between",
    (records: Records) => {
      records.user("one").assistant(answer);
      const parentUuid = records.last();
      records.user("two").filler(FAR).user("instead", { parentUuid });
    },
  ],
  [
    "a compaction cut the chain",
    (records: Records) =>
      records
        .user("one")
        .assistant(answer)
        .raw({ type: "system", subtype: "compact_boundary", uuid: "cut", parentUuid: null })
        .filler(FAR)
        .user("on", { parentUuid: null }),
  ],
  [
    "its parent stands nowhere",
    (records: Records) => records.user("one").assistant(answer).filler(FAR).user("on", { parentUuid: "x" }),
  ],
  [
    "it is a copy of what was written further back",
    (records: Records) => {
      records.user("one").assistant(answer);
      const parentUuid = records.last();
      records.user("two");
      const uuid = records.last();
      records
        .assistant(answer)
        .filler(FAR)
        .raw({ type: "user", uuid, parentUuid, message: { content: "two" } });
    },
  ],
] as const) {
  test(`a prompt whose parent stands far back takes nothing back when ${name}`, async (t) => {
    const records = new Records("44444444-4444-4444-8444-444444444444");
    write(records);
    assert.deepEqual(rewindsOf(await exported(freshChats(), placeOfRecords(temporaryFolder(t), records))), []);
  });
}

test("a file is gone through for far rewinds only where there are any, and twice for all of them", async (t) => {
  const records = new Records("44444444-4444-4444-8444-444444444444");
  records.user("one").assistant(answer);
  const parentUuid = records.last();
  records.user("two").assistant(answer).filler(FAR);
  for (let n = 0; n < 20; n++) records.user(`instead ${n}`, { parentUuid }).assistant(answer);
  const place = placeOfRecords(temporaryFolder(t), records);
  const meter = newMeter();
  const chats = freshChats(meter);
  const near = (await wholeChat(chats, place)).filter((entry) => entry.kind === "user" && entry.goesFarBack);
  assert.equal(near.length, 20);
  const parses: number[] = [];
  for (const { pos } of near) {
    const before = meter.parses;
    assert.equal(rewindsOf(await chats.record(place, pos, EXPORT_RECORD_BYTES)).length, 1);
    parses.push(meter.parses - before);
  }
  assert.ok(Math.max(...parses.slice(1)) < (parses[0] ?? 0) / 4, `${parses}`);
});

function placeOfRecords(projects: string, records: Records): ClaudePlace {
  const file = join(projects, "-p", `${records.session}.jsonl`);
  mkdirSync(join(projects, "-p"));
  writeFileSync(file, records.text());
  return placeOf(projects, file);
}
