import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Meter, newMeter } from "../../../src/stores/claude/meter.ts";
import type { ClaudePlace } from "../../../src/stores/claude/place.ts";
import { type Cursor, START } from "../../../src/transcript/cursor.ts";
import { toItems } from "../../../src/transcript/item.ts";
import { copiedProjects, freshChats, PAGE, placeNamed, placeOf, temporaryFolder, wholeChat } from "./fixtures.ts";
import { Records } from "./records-of.ts";

const SESSION = "11111111-1111-4111-8111-111111111111";
const MIB = 1024 * 1024;

function sessionWith(t: TestContext, text: string): ClaudePlace {
  const projects = join(temporaryFolder(t), "projects");
  const file = join(projects, "-home-dev", `${SESSION}.jsonl`);
  mkdirSync(join(projects, "-home-dev"), { recursive: true });
  writeFileSync(file, text);
  return placeOf(projects, file);
}

function spent(before: Meter, after: Meter): Meter {
  return {
    opens: after.opens - before.opens,
    bytes: after.bytes - before.bytes,
    parses: after.parses - before.parses,
    damaged: after.damaged - before.damaged,
  };
}

test("records of unknown types and those of the machinery cost no parse", async (t) => {
  const records = new Records(SESSION).user("hi").filler(300_000).raw({ type: "api-request", id: "x" });
  records.raw({ type: "brand-new", content: [{ type: "text", text: "x" }] }).assistant([{ type: "text", text: "yo" }]);
  const meter = newMeter();
  const page = await freshChats(meter).entries(sessionWith(t, records.text()), START, PAGE);
  assert.equal(toItems(page.entries).length, 2);
  assert.equal(meter.parses, 2);
});

test("a page without subagents depends on its transcript alone, and reads that once", async (t) => {
  const place = sessionWith(
    t,
    new Records(SESSION)
      .user("hi")
      .assistant([{ type: "text", text: "yo" }])
      .text(),
  );
  const meter = newMeter();
  const page = await freshChats(meter).entries(place, START, PAGE);
  assert.deepEqual(
    page.uses.map(({ path }) => path),
    [place.file],
  );
  assert.equal(page.settled, true);
  assert.equal(meter.opens, 1);
});

test("an output far from its call is named as one beside it, up to 8 MiB back", async (t) => {
  const near = new Records(SESSION)
    .call("toolu_1", "Bash", { command: "ls" })
    .filler(7.9 * MIB)
    .result("toolu_1", "a");
  const far = new Records(SESSION)
    .call("toolu_1", "Bash", { command: "ls" })
    .filler(8.1 * MIB)
    .result("toolu_1", "a");
  for (const [records, tool] of [
    [near, "Bash"],
    [far, "result"],
  ] as const) {
    const place = sessionWith(t, records.text());
    const items = toItems(await wholeChat(freshChats(), place));
    assert.deepEqual(
      items.map((item) => [item.tool, item.of]),
      [
        ["Bash", undefined],
        [tool, tool === "Bash" ? "j:0:0" : undefined],
      ],
    );
  }
});

test("how far back an output's call is found does not depend on what else is in the page", async (t) => {
  const records = new Records(SESSION).call("toolu_1", "Bash", { command: "ls" }).filler(7.9 * MIB);
  const start = records.text().length;
  records
    .result("toolu_1", "a")
    .filler(0.3 * MIB)
    .result("toolu_2", "b");
  const place = sessionWith(t, records.text());
  const end = `j:${records.text().length}:0` as Cursor;
  const pages = [
    await freshChats().entries(place, `j:${start}:0` as Cursor, PAGE),
    await freshChats().before(place, end, PAGE),
    { entries: await freshChats().record(place, `j:${start}:0` as Cursor) },
  ];
  for (const { entries } of pages) {
    const output = toItems(entries).find(({ text }) => text === "a");
    assert.deepEqual([output?.tool, output?.of], ["Bash", "j:0:0"]);
  }
});

test("a record over the page limit that has nothing to show stays, alone as in its page, the mark of its size", async (t) => {
  const records = new Records(SESSION).user("hi").filler(600_000, 600_000).user("bye");
  const place = sessionWith(t, records.text());
  const shown = toItems(await wholeChat(freshChats(), place)).find(({ tool }) => tool === "oversized");
  assert.ok(shown);
  assert.deepEqual(toItems(await freshChats().record(place, shown.ref)), [shown]);
});

test("a page full of outputs without calls costs one search back, not one each", async (t) => {
  const records = new Records(SESSION).user("start").filler(10 * MIB);
  const start = records.text().length;
  for (let i = 0; i < 300; i++) records.result(`toolu_${i}`, "orphan");
  const meter = newMeter();
  const place = sessionWith(t, records.text());
  const page = await freshChats(meter).entries(place, `j:${start}:0` as Cursor, PAGE);
  assert.equal(toItems(page.entries).length, 300);
  assert.ok(meter.bytes < 10 * MIB, `${meter.bytes} bytes were read`);
  assert.equal(meter.parses, 300);
});

test("a page full of records without a time costs one search back", async (t) => {
  const records = new Records(SESSION).user("start").filler(2 * MIB);
  const text = records.text().replace(/"timestamp":"[^"]*",/g, "");
  const line = `${JSON.stringify({ type: "user", message: { role: "user", content: "timeless" } })}\n`;
  const place = sessionWith(t, text + line.repeat(2_000));
  const meter = newMeter();
  const page = await freshChats(meter).entries(place, `j:${text.length}:0` as Cursor, PAGE);
  assert.deepEqual([...new Set(page.entries.map(({ at }) => at))], [Math.trunc(statSync(place.file).birthtimeMs)]);
  assert.ok(meter.bytes < 5 * MIB, `${meter.bytes} bytes were read`);
});

test("a record without a time takes the last one before it, else the session's start", async (t) => {
  const timeless = { type: "user", message: { role: "user", content: "timeless" } };
  const records = new Records(SESSION).raw(timeless).user("timed").raw(timeless);
  const first = Date.parse("2026-01-05T10:00:01.000Z");
  const place = sessionWith(t, records.text());
  assert.deepEqual(
    (await wholeChat(freshChats(), place)).map(({ at }) => at),
    [first, first, first],
  );
});

test("the end of a chat is told however much the machinery wrote behind it", async (t) => {
  const records = new Records(SESSION)
    .user("hi")
    .assistant([{ type: "text", text: "the end" }])
    .filler(3 * MIB);
  const place = sessionWith(t, records.text());
  const chats = freshChats();
  const page = await chats.before(place, "tail", PAGE);
  assert.deepEqual(
    toItems(page.entries).map(({ text }) => text),
    ["hi", "the end"],
  );
  assert.equal(page.prev, null);
  assert.equal(page.next, `j:${records.text().length}:0`);
});

test("a chat of 40 MiB opens at its end, its start and its middle in the work of a page", async (t) => {
  const records = new Records(SESSION)
    .user("start")
    .filler(20 * MIB, 400_000)
    .user("middle")
    .filler(20 * MIB, 400_000);
  const place = sessionWith(t, records.user("end").text());
  const meter = newMeter();
  const chats = freshChats(meter);
  for (const read of [
    () => chats.entries(place, START, PAGE),
    () => chats.before(place, "tail", PAGE),
    () => chats.entries(place, `j:${20 * MIB}:1` as Cursor, PAGE),
  ]) {
    const before = { ...meter };
    await read();
    assert.ok(spent(before, meter).bytes < 3 * MIB);
  }
});

test("an output that has a file of its own is given whole", async (t) => {
  const projects = copiedProjects(t);
  const place = placeNamed(projects, "a3e34ca9");
  const chats = freshChats();
  const output = (await wholeChat(chats, place)).find(({ kind }) => kind === "tool-result");
  assert.ok(output?.kind === "tool-result" && output.text.startsWith("<persisted-output>") && output.isPreview);
  for (const mostBytes of [undefined, 4000]) {
    const [whole] = await chats.record(place, output.pos, mostBytes);
    assert.ok(whole?.kind === "tool-result" && whole.text.startsWith("1\n2\n3\n") && whole.text.length === 4000);
    assert.equal(whole.isPreview, undefined);
  }
  assert.deepEqual(await chats.record(place, output.pos, 3999), [output]);
});

test("the file of an output is looked for in the session's own folder alone", async (t) => {
  const secret = join(temporaryFolder(t), "secret.txt");
  writeFileSync(secret, "secret");
  for (const path of [secret, `/x/tool-results/../../${secret}`, "C:\\x\\secret.txt", "..", ""]) {
    const text = `<persisted-output>\nOutput too large. Full output saved to: ${path}\n\nPreview`;
    const records = new Records(SESSION).call("toolu_1", "Bash", { command: "ls" });
    const start = records.text().length;
    const place = sessionWith(
      t,
      records.result("toolu_1", text, { toolUseResult: { persistedOutputPath: path } }).text(),
    );
    const [entry] = await freshChats().record(place, `j:${start}:0` as Cursor);
    assert.ok(entry?.kind === "tool-result" && entry.text.startsWith("<persisted-output>"), path);
  }
});

test("a record of 1 MiB is told by its size in a page and whole by itself, with the name of its call", async (t) => {
  const records = new Records(SESSION).call("toolu_1", "Bash", { command: "ls" });
  const start = records.text().length;
  const text = records.result("toolu_1", "x".repeat(MIB)).text();
  const place = sessionWith(t, text);
  const chats = freshChats();
  const [, marker] = toItems(await wholeChat(chats, place));
  assert.deepEqual([marker?.tool, marker?.ref], ["oversized", `j:${start}:0`]);
  assert.match(marker?.summary ?? "", new RegExp(`\\b${text.length - start} bytes`));
  const [entry] = await chats.record(place, `j:${start}:0` as Cursor);
  assert.ok(entry?.kind === "tool-result" && entry.text.length === MIB);
  assert.deepEqual([entry.tool, entry.of], ["Bash", "j:0:0"]);
});

test("the output of a call that is too long to be parsed has its name and place all the same", async (t) => {
  const records = new Records(SESSION).call("toolu_1", "Write", { content: "x".repeat(MIB) }).result("toolu_1", "ok");
  const [, result] = toItems(await wholeChat(freshChats(), sessionWith(t, records.text())));
  assert.deepEqual([result?.tool, result?.of], ["Write", "j:0:0"]);
});

test("two reads at once do not disturb each other", async (t) => {
  const long = JSON.stringify({ type: "user", message: { role: "user", content: "x".repeat(2 * MIB) } });
  const texts = ["first", "second", "third"].map((name) => `${long}\n${new Records(SESSION).user(name).text()}`);
  const places = texts.map((text) => sessionWith(t, text));
  const chats = freshChats();
  const read = await Promise.all(places.map((place) => wholeChat(chats, place)));
  assert.deepEqual(
    read.map((entries) => toItems(entries).map(({ text, tool }) => text ?? tool)),
    [
      ["oversized", "first"],
      ["oversized", "second"],
      ["oversized", "third"],
    ],
  );
});

test("a chat that is read while it grows costs what was added", async (t) => {
  const records = new Records(SESSION).filler(2 * MIB).user("so far");
  const place = sessionWith(t, records.take());
  const meter = newMeter();
  const chats = freshChats(meter);
  let { next } = await chats.before(place, "tail", PAGE);
  for (let i = 0; i < 20; i++) {
    appendFileSync(place.file, records.user(`more ${i}`).take());
    const before = { ...meter };
    const page = await chats.entries(place, next, PAGE);
    next = page.next;
    assert.equal(page.entries.length, 1);
    assert.deepEqual([spent(before, meter).opens, spent(before, meter).parses], [1, 1]);
  }
});

test("what could not be shown is told once, however often it is met", async (t) => {
  const place = sessionWith(t, new Records(SESSION).user("hi").raw('{"parentUuid":null,"type":"user","mess').text());
  const chats = freshChats();
  await wholeChat(chats, place);
  await wholeChat(chats, place);
  const reason = "a line of a transcript is no whole record";
  assert.deepEqual(chats.skipped(), [{ reason, count: 1, example: place.file }]);
});

/** What a chat shows when it is read whole, and from each of its records on. */
async function readFromEverywhere(place: ClaudePlace): Promise<{ whole: unknown[]; parts: unknown[][] }> {
  const whole = toItems(await wholeChat(freshChats(), place));
  const parts: unknown[][] = [];
  for (const ref of new Set(whole.map((item) => item.ref))) {
    const page = await freshChats().entries(place, ref, PAGE);
    parts.push(toItems(page.entries));
  }
  return { whole, parts };
}

function assertSameFromEverywhere(
  { whole, parts }: { whole: unknown[]; parts: unknown[][] },
  message = "a page shows something else",
) {
  for (const part of parts) assert.deepEqual(part, whole.slice(-part.length), message);
}

/** The lines as a program writes them that puts spaces behind colons and commas. */
function spaced(text: string): string {
  return text.replaceAll('":', '": ').replaceAll(',"', ', "');
}

test("a transcript that was written with spaces shows the same from wherever it is read", async (t) => {
  const records = new Records(SESSION).user("hi").call("toolu_1", "Bash", { command: "ls" });
  const back = records.last();
  records
    .result("toolu_1", "a")
    .user("more")
    .assistant([{ type: "text", text: "yo" }]);
  records.filler(100_000).user("other", { parentUuid: back });
  const compact = await readFromEverywhere(sessionWith(t, records.text()));
  const wide = await readFromEverywhere(sessionWith(t, spaced(records.text())));
  const told = (items: unknown[]): unknown[] =>
    (items as { tool?: string; text?: string; of?: string }[]).map(({ tool, text, of }) => [
      tool,
      text,
      of !== undefined,
    ]);
  assert.deepEqual(told(wide.whole), told(compact.whole));
  assert.deepEqual(told(wide.whole)[2], ["Bash", "a", true]);
  assertSameFromEverywhere(compact);
  assertSameFromEverywhere(wide);
});

test("an output is named by every plain call id and by no other, from wherever it is read", async (t) => {
  for (const [id, tool] of [
    ["toolu_01-x.y:z", "Bash"],
    ["x".repeat(128), "Bash"],
    ["x".repeat(129), "result"],
    ["werkzeug_ü", "result"],
    ['say "hi"', "result"],
    ["back\\slash", "result"],
  ] as const) {
    const records = new Records(SESSION).call(id, "Bash", { command: "ls" }).result(id, "a");
    const read = await readFromEverywhere(sessionWith(t, records.text()));
    assert.equal((read.whole as { tool?: string }[])[1]?.tool, tool, id);
    assertSameFromEverywhere(read, id);
  }
});

/** Kind or tool, and text or summary, of what is shown. */
function told(items: readonly unknown[]): string[] {
  const shown = items as { kind: string; tool?: string; text?: string; summary?: string }[];
  return shown.map(({ kind, tool, text, summary }) => `${tool ?? kind}: ${text ?? summary}`);
}

test("what was written twice is shown once, from wherever it is read, and takes nothing back", async (t) => {
  const records = new Records(SESSION).user("one").call("toolu_1", "Bash", { command: "ls" }).result("toolu_1", "a");
  records
    .assistant([{ type: "text", text: "done" }])
    .user("two")
    .assistant([{ type: "text", text: "again" }]);
  const lines = records.take();
  const part = lines.split("\n").slice(0, 4).join("\n");
  const rest = records
    .user("three")
    .assistant([{ type: "text", text: "end" }])
    .take();
  const expected = ["user: one", "Bash: ls", "Bash: a", "assistant: done", "user: two", "assistant: again"];
  for (const text of [lines + lines + rest, `${lines + part}\n${rest}`, spaced(lines + lines + rest)]) {
    const read = await readFromEverywhere(sessionWith(t, text));
    assert.deepEqual(told(read.whole), [...expected, "user: three", "assistant: end"]);
    assertSameFromEverywhere(read);
  }
  const start = lines.length;
  const page = await freshChats().entries(sessionWith(t, lines + lines + rest), `j:${start}:0` as Cursor, PAGE);
  assert.deepEqual(told(toItems(page.entries)), ["user: three", "assistant: end"]);
});

test("a record that was only given the id of another is shown, and takes nothing back", async (t) => {
  const records = new Records(SESSION).user("one");
  const uuid = records.last();
  records.assistant([{ type: "text", text: "done" }]).user("one again", { parentUuid: null });
  const text = records.text().replace(/"uuid":"[^"]*"(?=,"timestamp":"[^"]*03\.000Z")/, `"uuid":"${uuid}"`);
  const read = await readFromEverywhere(sessionWith(t, text));
  assert.deepEqual(told(read.whole), ["user: one", "assistant: done", "user: one again"]);
  assertSameFromEverywhere(read);
});

test("of a run of copies that only ends near enough to be left out, the same are left out from wherever it is read", async (t) => {
  const records = new Records(SESSION).user("one");
  const one = records.take();
  const between = records.filler(40_000).take();
  const [two, three] = ["two", "three"].map((text) => records.user(text).take());
  const apart = records.filler(108_000).take();
  const first = one + between + two + three + apart;
  const place = sessionWith(t, first + one + two + three);
  const expected = ["user: one", "user: two", "user: three", "user: one"];
  assert.deepEqual(told(toItems(await wholeChat(freshChats(), place))), expected);
  for (const [start, shown] of [
    [first, ["user: one"]],
    [first + one, []],
    [first + one + two, []],
  ] as const) {
    const page = await freshChats().entries(place, `j:${Buffer.byteLength(start)}:0` as Cursor, PAGE);
    assert.deepEqual(told(toItems(page.entries)), shown);
  }
});

test("copies that stand too far apart to be left out take nothing back", async (t) => {
  const records = new Records(SESSION).user("zero").assistant([{ type: "text", text: "yes" }]);
  records
    .user("one")
    .assistant([{ type: "text", text: "done" }])
    .user("two")
    .assistant([{ type: "text", text: "end" }]);
  const lines = records.take();
  const place = sessionWith(t, lines + records.filler(MIB).take() + lines);
  assert.deepEqual(
    told(toItems(await wholeChat(freshChats(), place))).filter((item) => item.startsWith("rewind")),
    [],
  );
});

test("a queued prompt that follows as a prompt of its own is shown once, and typed again, again", async (t) => {
  const queued = { type: "attachment", attachment: { type: "queued_command", commandMode: "prompt", prompt: "steer" } };
  const records = new Records(SESSION).user("go").raw(queued).user("steer");
  records.assistant([{ type: "text", text: "ok" }]).user("steer");
  const read = await readFromEverywhere(sessionWith(t, records.text()));
  assert.deepEqual(told(read.whole), ["user: go", "user: steer", "assistant: ok", "user: steer"]);
  const far = new Records(SESSION).user("go").raw(queued).filler(200_000).user("steer");
  const from = far.text().lastIndexOf("\n", far.text().length - 2) + 1;
  const page = await freshChats().entries(sessionWith(t, far.text()), `j:${from}:0` as Cursor, PAGE);
  assert.deepEqual(page.entries, []);
});

test("the records of a file without any time have the file's, and keep it while the file grows", async (t) => {
  const line = `${JSON.stringify({ type: "user", message: { content: "hi" } })}\n`;
  const place = sessionWith(t, line.repeat(2));
  const chats = freshChats();
  const first = await chats.entries(place, START, PAGE);
  const born = Math.trunc(statSync(place.file).birthtimeMs);
  assert.deepEqual(
    first.entries.map(({ at }) => at),
    [born, born],
  );
  appendFileSync(place.file, line);
  utimesSync(place.file, new Date(), new Date(Date.now() + 60_000));
  const second = await chats.entries(place, first.next, PAGE);
  assert.deepEqual(
    second.entries.map(({ at }) => at),
    [born],
  );
});

test("a cursor of one copy of a session starts again in a copy in another folder", async (t) => {
  const place = sessionWith(t, new Records(SESSION).user("old").text());
  const folder = join(place.root, "-home-dev-moved");
  mkdirSync(folder);
  const file = join(folder, `${SESSION}.jsonl`);
  writeFileSync(file, new Records(SESSION).user("new").text());
  const chats = freshChats();
  const { next } = await chats.entries(place, START, PAGE);
  const page = await chats.entries(placeOf(place.root, file), next, PAGE);
  assert.deepEqual([page.reset, told(toItems(page.entries))], [true, ["user: new"]]);
});

test("a thought that older releases wrote again while it grew is told once", async (t) => {
  const records = new Records(SESSION).user("go");
  for (const blocks of [
    [{ type: "thinking", thinking: "let" }],
    [{ type: "thinking", thinking: "let me see" }],
    [
      { type: "thinking", thinking: "let me see" },
      { type: "text", text: "let" },
    ],
  ])
    records.raw({ type: "assistant", message: { id: "msg_a", role: "assistant", content: blocks } });
  const entries = await wholeChat(freshChats(), sessionWith(t, records.text()));
  assert.deepEqual(
    entries.map((entry) => [entry.kind, "text" in entry && entry.text]),
    [
      ["user", "go"],
      ["reasoning", "let"],
      ["reasoning", " me see"],
      ["assistant", "let"],
    ],
  );
});
