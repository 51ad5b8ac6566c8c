import assert from "node:assert/strict";
import { copyFileSync, renameSync } from "node:fs";
import { test } from "node:test";
import { START } from "../../../src/transcript/cursor.ts";
import { handClock, homeWith, insertPart, SESSION, session, T0, text, turns, updatePart } from "./conversation.ts";
import { change, openStore, PAGE, readOn, refOf, told } from "./fixtures.ts";
import { sqlText, startWriter } from "./writer.ts";

const DAY = 24 * 3_600_000;

test("a row is told at once, again until it is five seconds old, and then passed", async (t) => {
  const { home, path } = homeWith(t, turns(1));
  const clock = handClock(T0 + DAY);
  const store = openStore(home, clock);
  const ref = await refOf(store, SESSION);
  const { next } = await readOn(store, ref);
  const writer = startWriter(t, path);
  await writer.run(insertPart("prt_0000c", "msg_0000b", DAY + 100, text("more")));

  clock.time = T0 + DAY + 150;
  const young = await store.entries(ref, next, PAGE);
  assert.deepEqual([told(young.entries), young.next, young.settled], [["assistant: more"], next, false]);

  clock.time = T0 + DAY + 5_100;
  const old = await store.entries(ref, next, PAGE);
  assert.deepEqual(
    [told(old.entries), old.next, old.settled],
    [["assistant: more"], `o:${T0 + DAY + 100}:prt_0000c`, true],
  );
  assert.deepEqual((await store.entries(ref, old.next, PAGE)).entries, []);
});

test("a row that is written twice in one millisecond is told as it is at last", async (t) => {
  const { home, path } = homeWith(t, turns(1));
  const clock = handClock(T0 + DAY);
  const store = openStore(home, clock);
  const ref = await refOf(store, SESSION);
  const { next } = await readOn(store, ref);
  const writer = startWriter(t, path);
  const seen: string[] = [];
  let from = next;
  for (const [value, later] of [
    ["one", 1],
    ["two", 2],
    ["two", 6_000],
  ] as const) {
    await writer.run(
      value === "one"
        ? insertPart("prt_0000c", "msg_0000b", DAY, text(value))
        : updatePart("prt_0000c", DAY, text(value)),
    );
    clock.time = T0 + DAY + later;
    const page = await store.entries(ref, from, PAGE);
    seen.push(...told(page.entries));
    from = page.next;
  }
  assert.deepEqual(seen, ["assistant: one", "assistant: two", "assistant: two"]);
  assert.equal(from, `o:${T0 + DAY}:prt_0000c`);
});

test("a row that is committed after a newer one is not lost", async (t) => {
  const { home, path } = homeWith(t, turns(1));
  const clock = handClock(T0 + DAY);
  const store = openStore(home, clock);
  const ref = await refOf(store, SESSION);
  let { next } = await readOn(store, ref);
  const writer = startWriter(t, path);
  await writer.run(insertPart("prt_0000d", "msg_0000b", DAY + 2_000, text("second")));
  clock.time = T0 + DAY + 4_000;
  const first = await store.entries(ref, next, PAGE);
  assert.deepEqual(told(first.entries), ["assistant: second"]);
  next = first.next;
  await writer.run(insertPart("prt_0000c", "msg_0000b", DAY, text("first, late")));
  const second = await store.entries(ref, next, PAGE);
  assert.deepEqual(told(second.entries), ["assistant: first, late", "assistant: second"]);
});

test("an answer is inserted empty and shows when its text is there", async (t) => {
  const { home, path } = homeWith(t, turns(1));
  const clock = handClock(T0 + DAY);
  const store = openStore(home, clock);
  const ref = await refOf(store, SESSION);
  const { next } = await readOn(store, ref);
  const writer = startWriter(t, path);
  await writer.run(insertPart("prt_0000c", "msg_0000b", DAY, text("")));
  clock.time = T0 + DAY + 10_000;
  const empty = await readOn(store, ref, next);
  assert.deepEqual([told(empty.entries), empty.next], [[], `o:${T0 + DAY}:prt_0000c`]);
  await writer.run(updatePart("prt_0000c", DAY + 180_000, text("At last.")));
  clock.time = T0 + DAY + 180_100;
  assert.deepEqual(told((await store.entries(ref, empty.next, PAGE)).entries), ["assistant: At last."]);
});

test("what is updated behind a reader of the history is told when it has read it", async (t) => {
  const { home, path } = homeWith(t, turns(50));
  const writer = startWriter(t, path);
  await writer.run("SELECT 1");
  const clock = handClock(Date.now());
  const store = openStore(home, clock);
  const ref = await refOf(store, SESSION);
  const first = await store.entries(ref, START, { ...PAGE, parts: 40 });
  assert.match(first.next, /^o:\d+:(prt|msg)_\w+:1$/);
  const ms = Date.now() - T0;
  await writer.run(updatePart("prt_0002b", ms, text("a2, again")));
  clock.time += 60_000;
  const rest = told((await readOn(store, ref, first.next)).entries);
  assert.equal(rest.at(-1), "assistant: a2, again");
  assert.equal(rest.filter((line) => line === "assistant: a40").length, 1);
});

test("a tool is one item from call to output", async (t) => {
  const { home, path } = homeWith(t, turns(1));
  const clock = handClock(T0 + DAY);
  const store = openStore(home, clock);
  const ref = await refOf(store, SESSION);
  const { next } = await readOn(store, ref);
  const writer = startWriter(t, path);
  const call = (state: object): object => ({ type: "tool", tool: "bash", callID: "call_1", state });
  const input = { command: "make", description: "builds" };
  const steps = [
    call({ status: "pending", input: {}, raw: '{"comm' }),
    call({ status: "running", input, time: { start: T0 } }),
    call({ status: "running", input, metadata: { output: "step 1\n" } }),
    call({ status: "completed", input, output: "step 1\nfailed\n", metadata: { exit: 2 } }),
  ];
  const seen: string[] = [];
  for (const [index, step] of steps.entries()) {
    await writer.run(
      index === 0 ? insertPart("prt_0000c", "msg_0000b", DAY, step) : updatePart("prt_0000c", DAY + index, step),
    );
    clock.time = T0 + DAY + index + 5;
    const { entries } = await store.entries(ref, next, PAGE);
    seen.push(...told(entries));
    assert.equal(entries.length === 1 && entries[0]?.id, "prt_0000c");
    assert.equal(entries[0]?.kind === "tool-call" && entries[0].isRunning === true, index < 3);
  }
  assert.deepEqual(seen, ['bash: {"comm', "bash: make", "bash: make → step 1\n", "bash: make → step 1\nfailed\n !"]);
});

test("a subagent shows from the moment that its task runs", async (t) => {
  const { home, path } = homeWith(t, turns(1));
  const clock = handClock(T0 + DAY);
  const store = openStore(home, clock);
  const ref = await refOf(store, SESSION);
  const { next } = await readOn(store, ref);
  const writer = startWriter(t, path);
  const task = (state: object): object => ({ type: "tool", tool: "task", callID: "call_1", state });
  const input = { description: "count", prompt: "Count", subagent_type: "general" };
  await writer.run(
    `INSERT INTO message VALUES ('msg_0001a', '${SESSION}', ${T0 + DAY}, ${T0 + DAY}, '{"role":"assistant"}');` +
      insertPart("prt_0001a", "msg_0001a", DAY, task({ status: "pending", input: {}, raw: "" })),
  );
  clock.time = T0 + DAY + 5;
  assert.deepEqual(told((await store.entries(ref, next, PAGE)).entries), ["task: {}"]);
  await writer.run(
    `INSERT INTO session (id, project_id, parent_id, slug, directory, title, version, time_created, time_updated)
     VALUES ('ses_kid', 'global', '${SESSION}', 's', '/p', 'count (@general subagent)', '1.18.33', ${T0 + DAY + 20}, ${T0 + DAY + 20});` +
      updatePart("prt_0001a", DAY + 30, task({ status: "running", input, metadata: { sessionId: "ses_kid" } })),
  );
  clock.time = T0 + DAY + 40;
  const [call, link] = (await store.entries(ref, next, PAGE)).entries;
  assert.ok(call && link);
  assert.deepEqual(told([call, link]), ["task: count", "subagent: ses_kid"]);
  assert.deepEqual(link.kind === "subagent" && link.subagent, {
    id: "ses_kid",
    title: "count (@general subagent)",
    agent: "opencode",
  });
});

test("a turn that is taken back is hidden, and whoever has read it starts again", async (t) => {
  const { home, path } = homeWith(t, turns(4));
  const store = openStore(home);
  const ref = await refOf(store, SESSION);
  const early = (await store.entries(ref, START, { ...PAGE, parts: 4 })).next;
  const late = (await store.entries(ref, START, { ...PAGE, parts: 12 })).next;
  const { next } = await readOn(store, ref);
  const writer = startWriter(t, path);
  await writer.run(`UPDATE session SET revert = ${sqlText({ messageID: "msg_0002a", snapshot: "x" })}`);

  const kept = ["user: u0", "assistant: a0", "user: u1", "assistant: a1"];
  assert.deepEqual(told((await readOn(store, ref)).entries), kept);
  assert.deepEqual(told((await store.before(ref, "tail", PAGE)).entries), kept);
  for (const cursor of [next, late]) {
    const page = await store.entries(ref, cursor, PAGE);
    assert.deepEqual([page.reset, told(page.entries)], [true, kept]);
    assert.equal((await store.entries(ref, page.next, PAGE)).reset, undefined);
  }
  const on = await store.entries(ref, early, PAGE);
  assert.deepEqual([on.reset, told(on.entries)], [undefined, kept.slice(2)]);

  // Taken back no more: what was hidden was not updated, so only a new start shows it.
  await writer.run("UPDATE session SET revert = NULL");
  const again = await store.entries(ref, on.next, PAGE);
  assert.deepEqual([again.reset, told(again.entries).length], [true, 8]);
});

test("a turn can be taken back from the middle of a message", async (t) => {
  const rows = turns(2);
  const { home } = homeWith(t, {
    ...rows,
    session: [session({ revert: { messageID: "msg_0001b", partID: "prt_0001b" } })],
  });
  const store = openStore(home);
  const { entries } = await readOn(store, await refOf(store, SESSION));
  assert.deepEqual(told(entries), ["user: u0", "assistant: a0", "user: u1"]);
});

test("what one page tells of new rows stands in conversation order, whichever was done first", async (t) => {
  const { home, path } = homeWith(t, turns(1));
  const clock = handClock(Date.now());
  const store = openStore(home, clock);
  const ref = await refOf(store, SESSION);
  const { next } = await readOn(store, ref);
  const ms = clock.time - T0;
  const writer = startWriter(t, path);
  await writer.run(
    `INSERT INTO message VALUES ('msg_0001a', '${SESSION}', ${clock.time}, ${clock.time}, '{"role":"assistant"}');
     ${["1", "2", "3"].map((n) => insertPart(`prt_0001${n}`, "msg_0001a", ms, text(""))).join(" ")}
     ${["2", "3", "1"].map((n, index) => updatePart(`prt_0001${n}`, ms + index, text(n))).join(" ")}`,
  );
  assert.deepEqual(told((await store.entries(ref, next, PAGE)).entries), [
    "assistant: 1",
    "assistant: 2",
    "assistant: 3",
  ]);
});

test("a chat whose last row is gone starts again", async (t) => {
  const { home, path } = homeWith(t, turns(2));
  const store = openStore(home);
  const ref = await refOf(store, SESSION);
  const { next } = await readOn(store, ref);
  const writer = startWriter(t, path);
  await writer.run("DELETE FROM part WHERE message_id LIKE 'msg_0001%'; DELETE FROM message WHERE id LIKE 'msg_0001%'");
  const page = await store.entries(ref, next, PAGE);
  assert.deepEqual([page.reset, told(page.entries)], [true, ["user: u0", "assistant: a0"]]);
});

test("a chat whose database is replaced by another file starts again once, also where no row's time tells", async (t) => {
  const { home, path } = homeWith(t, turns(2));
  const store = openStore(home);
  const ref = await refOf(store, SESSION);
  const { next } = await readOn(store, ref);
  const { next: tail } = await store.before(ref, "tail", PAGE);
  copyFileSync(path, `${path}.copy`);
  change(`${path}.copy`, (database) => database.exec("UPDATE part SET data = replace(data, 'u0', 'other')"));
  renameSync(`${path}.copy`, path);
  const page = await store.entries(ref, next, PAGE);
  assert.deepEqual([page.reset, told(page.entries)[0]], [true, "user: other"]);
  assert.equal((await store.entries(ref, page.next, PAGE)).reset, undefined);
  assert.equal(tail, next);
});

test("an idle chat is scanned once, however many ask", async (t) => {
  const { home } = homeWith(t, turns(3));
  const store = openStore(home);
  const ref = await refOf(store, SESSION);
  const { next } = await readOn(store, ref);
  const scans = store.work.scans;
  await Promise.all([1, 2, 3].map(() => store.entries(ref, next, PAGE)));
  assert.equal(store.work.scans, scans);
});
