import assert from "node:assert/strict";
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import type { SessionEvent } from "../../../src/agents/event.ts";
import { turns } from "../../support/turns.ts";
import { bodyOf, called, Desk, failingFiles, gave, numbers, said } from "./recorded.ts";

const END: SessionEvent = { kind: "turn-end", reason: "completed" };

test("a record is an envelope and the fields of its kind, in the order of the format", async (t) => {
  const desk = new Desk(t);
  await desk.record(
    { kind: "user-prompt", source: "api", text: "Count" },
    { kind: "thought", text: "Hm.\n" },
    { isUpdate: true, arguments: { b: 1, a: 2 }, toolName: "ls", toolCallId: "t1", kind: "tool-call" },
    { isError: false, result: [1, null], toolCallId: "t1", kind: "tool-result" },
    { kind: "agent-prompt", options: [{ optionId: "y", name: "Yes", kind: "allow_once" }], toolCallId: "t2" },
    { kind: "permission-resolved", optionId: "y", decision: "approve", toolCallId: "t2" },
    { kind: "plan", title: "Plan", entries: [{ content: "c", priority: "high", status: "pending" }] },
    { kind: "usage_update", used: 5, size: 100, cost: 0.5, model: "m", tokensOut: 2, tokensIn: 1 },
    { kind: "error", error: { message: "bad", code: -1 } },
    END,
    { kind: "usage_snapshot", source: "adapter", tokensOut: 80, model: "m-1", tokensIn: 900, costUsd: 0.02 },
    { kind: "notice", text: "n" },
  );
  const head = (seq: number, kind: string): string =>
    `{"seq":${seq},"ts":"2027-01-15T08:00:00.000Z","kind":"${kind}","sessionId":"sess_11aa22bb",`;
  assert.deepEqual(desk.text().split("\n"), [
    `${head(1, "user-prompt")}"text":"Count","source":"api"}`,
    `${head(2, "thought")}"text":"Hm.\\n"}`,
    `${head(3, "tool-call")}"toolCallId":"t1","toolName":"ls","arguments":{"b":1,"a":2}}`,
    `${head(4, "tool-result")}"toolCallId":"t1","result":[1,null],"isError":false}`,
    `${head(5, "agent-prompt")}"toolCallId":"t2","options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}`,
    `${head(6, "permission-resolved")}"toolCallId":"t2","decision":"approve","optionId":"y"}`,
    `${head(7, "plan")}"entries":[{"content":"c","priority":"high","status":"pending"}],"title":"Plan"}`,
    `${head(8, "usage_update")}"size":100,"used":5,"cost":0.5,"tokensIn":1,"tokensOut":2,"model":"m"}`,
    `${head(9, "error")}"error":{"message":"bad","code":-1}}`,
    `${head(10, "turn-end")}"reason":"completed"}`,
    `${head(11, "usage_snapshot")}"model":"m-1","costUsd":0.02,"tokensIn":900,"tokensOut":80,"source":"adapter"}`,
    `${head(12, "notice")}"text":"n"}`,
    "",
  ]);
});

test("the file is for its owner alone, and so are the folders that are made for it", async (t) => {
  const desk = new Desk(t);
  await desk.record(END);
  assert.equal(statSync(desk.file).mode & 0o777, 0o600);
  assert.equal(statSync(dirname(desk.file)).mode & 0o777, 0o700);
  assert.equal(statSync(desk.folder).mode & 0o777, 0o700);
});

test("nothing is made before there is a record, and an unknown kind makes none", async (t) => {
  const desk = new Desk(t);
  const recording = await desk.open();
  assert.equal(recording.take({ kind: "mood", text: "x" } as unknown as SessionEvent), 0);
  assert.equal(recording.take({ kind: "__proto__" } as unknown as SessionEvent), 0);
  assert.equal(recording.take(said("")), 0);
  assert.equal(recording.take(said("Let me")), 0);
  await recording.written();
  assert.equal(existsSync(desk.folder), false);
  assert.equal(recording.take(END), 2);
  await recording.written();
  assert.deepEqual(desk.bodies(), [
    { kind: "text-delta", text: "Let me" },
    { kind: "turn-end", reason: "completed" },
  ]);
});

test("each completed line is a record at once, with its own newline", async (t) => {
  const desk = new Desk(t);
  const recording = await desk.open();
  assert.equal(recording.take(said("one\r\n\n\r\ntwo\nth")), 4);
  assert.equal(recording.take(said("ree\n")), 5);
  await recording.written();
  assert.deepEqual(
    desk.records().map(({ text, partial }) => [text, partial]),
    [
      ["one\r\n", undefined],
      ["\n", undefined],
      ["\r\n", undefined],
      ["two\n", undefined],
      ["three\n", undefined],
    ],
  );
});

test("the beginning of a line is written as partial 250 ms after its last chunk", async (t) => {
  const desk = new Desk(t);
  const recording = await desk.open();
  recording.take(said("Let "));
  desk.time.pass(200);
  recording.take(said("me"));
  desk.time.pass(249);
  assert.equal(recording.seq, 0);
  desk.time.pass(1);
  assert.equal(recording.seq, 1);
  recording.take(said(" look\n"));
  await recording.written();
  assert.deepEqual(desk.bodies(), [
    { kind: "text-delta", text: "Let me", partial: true },
    { kind: "text-delta", text: " look\n" },
  ]);
  desk.time.pass(10_000);
  assert.equal(desk.time.pending, 0);
});

test("text that is flushed by a record of another kind, or by closing, is not partial", async (t) => {
  const desk = new Desk(t);
  await desk.record(said("a"), { kind: "thought", text: "b" }, said("c"), called("t1"), gave("t1"), said("d"));
  assert.deepEqual(
    desk.bodies().map(({ kind, text, partial }) => [kind, text, partial]),
    [
      ["text-delta", "a", undefined],
      ["thought", "b", undefined],
      ["text-delta", "c", undefined],
      ["tool-call", undefined, undefined],
      ["tool-result", undefined, undefined],
      ["text-delta", "d", undefined],
    ],
  );
});

test("a character whose halves come in two chunks is not written in two, and halves alone survive", async (t) => {
  const desk = new Desk(t);
  const recording = await desk.open();
  recording.take(said("a\ud83d"));
  desk.time.pass(250);
  recording.take(said("\ude00b"));
  desk.time.pass(250);
  recording.take(said("\ud83d"));
  desk.time.pass(250);
  recording.take(said("\udc00\ud800\n"));
  recording.take(said("\ud83d"));
  await recording.close();
  assert.deepEqual(
    desk.records().map(({ text }) => text),
    ["a", "\ud83d\ude00b", "\ud83d\udc00\ud800\n", "\ud83d"],
  );
});

test("a line without an end is written in pieces that a chat can show", async (t) => {
  const desk = new Desk(t);
  const recording = await desk.open();
  const chunk = "\u0001😀x".repeat(2_500);
  for (let i = 0; i < 100; i++) recording.take(said(chunk));
  recording.take(said("\n"));
  await recording.close();
  const records = desk.records();
  assert.equal(records.map(({ text }) => text).join(""), `${chunk.repeat(100)}\n`);
  assert.deepEqual(new Set(records.slice(0, -1).map(({ partial }) => partial)), new Set([true]));
  assert.equal(records.at(-1)?.partial, undefined);
  for (const line of desk.text().split("\n")) assert.ok(Buffer.byteLength(line) < 512 * 1024);
  assert.equal(desk.text().includes("\\ud83d"), false);
});

test("a line of 100 MB without an end does not grow what is held, and its cost does not grow with it", async (t) => {
  const desk = new Desk(t);
  const recording = await desk.open();
  const chunk = "x".repeat(1_000_000);
  for (let i = 0; i < 100; i++) {
    recording.take(said(chunk));
    await recording.room();
  }
  await recording.close();
  assert.equal(recording.loss, undefined);
  const size = statSync(desk.file).size;
  assert.ok(size > 100_000_000 && size < 101_000_000, String(size));
});

test("of a call's updates the newest is written, before its result", async (t) => {
  const desk = new Desk(t);
  await desk.record(called("t1", { c: "" }), ...["l", "ls", "ls -l"].map((c) => called("t1", { c }, true)), gave("t1"));
  assert.deepEqual(desk.bodies(), [
    { kind: "tool-call", toolCallId: "t1", toolName: "ls", arguments: { c: "" } },
    { kind: "tool-call", toolCallId: "t1", toolName: "ls", arguments: { c: "ls -l" }, isUpdate: true },
    { kind: "tool-result", toolCallId: "t1", result: "ok", isError: false },
  ]);
});

test("a second announcement of a call is an update, and an update of an unknown call announces it", async (t) => {
  const desk = new Desk(t);
  await desk.record(called("t1", 1, true), called("t1", 2), gave("t1"));
  assert.deepEqual(
    desk.bodies().map(({ arguments: args, isUpdate }) => [args, isUpdate]),
    [
      [1, undefined],
      [2, true],
      [undefined, undefined],
    ],
  );
});

test("a turn's end writes held updates, ends open calls and comes last", async (t) => {
  const desk = new Desk(t);
  await desk.record(
    called("t1"),
    called("t2"),
    called("t1", { a: 1 }, true),
    said("x"),
    gave("t2"),
    called("t2", 9, true),
    END,
  );
  assert.deepEqual(desk.bodies().slice(2), [
    { kind: "text-delta", text: "x" },
    { kind: "tool-result", toolCallId: "t2", result: "ok", isError: false },
    { kind: "tool-call", toolCallId: "t1", toolName: "ls", arguments: { a: 1 }, isUpdate: true },
    { kind: "tool-result", toolCallId: "t1", result: null, isError: true },
    { kind: "tool-call", toolCallId: "t2", toolName: "ls", arguments: 9, isUpdate: true },
    { kind: "turn-end", reason: "completed" },
  ]);
});

test("closing writes what a turn's end would, and nothing is taken after it", async (t) => {
  const desk = new Desk(t);
  const recording = await desk.open();
  for (const event of [called("t1"), called("t1", 1, true), said("x")]) recording.take(event);
  await Promise.all([recording.close(), recording.close()]);
  assert.equal(recording.take(END), 4);
  await recording.close();
  assert.deepEqual(
    desk.bodies().map(({ kind }) => kind),
    ["tool-call", "text-delta", "tool-call", "tool-result"],
  );
});

test("a result of a call that nobody announced is written all the same", async (t) => {
  const desk = new Desk(t);
  await desk.record(gave("ghost", { a: [1] }), gave("ghost"));
  assert.deepEqual(
    desk.bodies().map(({ toolCallId, result }) => [toolCallId, result]),
    [
      ["ghost", { a: [1] }],
      ["ghost", "ok"],
    ],
  );
});

test("what is held of calls is bounded by their number and by their size", async (t) => {
  const desk = new Desk(t);
  const recording = await desk.open();
  for (const n of numbers(1, 1100)) recording.take(called(`t${n}`));
  assert.equal(recording.seq, 1100 + 76);
  const big = "x".repeat(3_000_000);
  for (const n of [1100, 1099, 1098]) recording.take(called(`t${n}`, { big }, true));
  assert.equal(recording.seq, 1100 + 76 + 1);
  await recording.close();
  const records = desk.records();
  assert.deepEqual(desk.numbers(), numbers(1, records.length));
  assert.equal(records.filter(({ kind, isError }) => kind === "tool-result" && isError).length, 1100);
  assert.equal(records.filter(({ isUpdate }) => isUpdate).length, 3);
});

test("images are not inlined, wherever they stand", async (t) => {
  const desk = new Desk(t);
  const data = "iVBORw0KGgo".repeat(100);
  const [record] = await desk.record(
    gave("t1", {
      content: [
        { type: "image", data, mimeType: "image/png" },
        { type: "image", source: { type: "base64", media_type: "image/png", data } },
        { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } },
        { type: "resource", resource: { uri: "file:///a", blob: data } },
        { type: "text", text: `see data:image/png;base64,${data} there` },
      ],
      data,
    }),
    gave("t2", `data:image/png;base64,${data}`),
  );
  assert.deepEqual(record?.result, {
    content: [
      { type: "image", data: "(825 bytes left out)", mimeType: "image/png" },
      { type: "image", source: { type: "base64", media_type: "image/png", data: "(825 bytes left out)" } },
      { type: "image_url", image_url: { url: "data:image/png (825 bytes left out)" } },
      { type: "resource", resource: { uri: "file:///a", blob: "(825 bytes left out)" } },
      { type: "text", text: "see data:image/png (825 bytes left out) there" },
    ],
    data,
  });
  assert.equal(desk.records()[1]?.result, "data:image/png (825 bytes left out)");
});

test("what a person or the agent says is kept as it is, also when it looks like an image", async (t) => {
  const desk = new Desk(t);
  const text = `data:image/png;base64,${"A".repeat(500)}`;
  await desk.record({ kind: "user-prompt", text }, said(text));
  assert.deepEqual(
    desk.records().map((record) => record.text),
    [text, text],
  );
});

test("values that JSON can't hold are put in words", async (t) => {
  const desk = new Desk(t);
  let deep: unknown = 1;
  for (let i = 0; i < 100_000; i++) deep = [deep];
  const circle: { self?: unknown } = {};
  circle.self = circle;
  await desk.record(
    gave("a", deep),
    gave("b", circle),
    gave("c", 12n),
    { kind: "tool-result", toolCallId: "d", result: undefined, isError: false },
    gave("e", [undefined, { x: 2n }]),
  );
  assert.deepEqual(
    desk.records().map(({ result }) => result),
    ["(nested too deeply to be recorded)", "(nested too deeply to be recorded)", "12", null, [null, { x: "2" }]],
  );
});

test("a record over 16 MiB is cut, with a mark", async (t) => {
  const desk = new Desk(t);
  const most = 16 * 1024 * 1024;
  await desk.record(
    gave("a", "x".repeat(most - 10_000)),
    gave("b", "x".repeat(most)),
    gave("c", { text: "é\u0001".repeat(5e6) }),
  );
  const [whole, text, value] = desk.records();
  assert.equal(String(whole?.result).length, most - 10_000);
  assert.match(String(text?.result), /^x{1048575}… \(cut: it has 16777216 characters\)$/);
  assert.match(String(value?.result), /^\{"text":"é.*… \(cut: it has \d+ characters\)$/);
  for (const line of desk.text().split("\n")) assert.ok(Buffer.byteLength(line) < most);
});

test("numbers go on from the file's end, also after a kill in the middle of a line", async (t) => {
  const desk = new Desk(t);
  await desk.record(said("a\nb\n"));
  appendFileSync(desk.file, '{"seq":3,"ts":"2027-01-15T08:00:00.000Z","kind":"text-de');
  const recording = await desk.open();
  assert.equal(recording.seq, 2);
  assert.equal(recording.take(said("c\n")), 3);
  await recording.close();
  assert.deepEqual(desk.numbers(), [1, 2, 3]);
  assert.match(desk.text(), /"text-de\n\{"seq":3,/);
});

test("a last line that lacks only its newline counts", async (t) => {
  const desk = new Desk(t);
  await desk.record(said("a\nb\n"));
  writeFileSync(desk.file, desk.text().trimEnd());
  await desk.record(said("c\n"));
  assert.deepEqual(desk.numbers(), [1, 2, 3]);
});

test("what is no record at the file's end is looked through, block by block", async (t) => {
  const desk = new Desk(t);
  await desk.record(said("a\nb\n"));
  appendFileSync(desk.file, `${"garbage {\n\n".repeat(20_000)}${"y".repeat(300_000)}\n[1]\n{"seq":"7"}\n{"seq":-1}\n`);
  await desk.record(said("c\n"));
  assert.deepEqual(desk.numbers().slice(0, 2), [1, 2]);
  assert.equal(desk.records().at(-1)?.seq, 3);
});

test("a record that was glued to a torn one is not numbered again", async (t) => {
  const desk = new Desk(t);
  await desk.record(said("a\n"));
  const glued = JSON.stringify({ seq: 2, ts: "t", kind: "notice", sessionId: "sess_11aa22bb", text: "" });
  appendFileSync(desk.file, `{"seq":2,"ts":"20${glued}\n`);
  await desk.record(said("c\n"));
  assert.equal(desk.records().at(-1)?.seq, 3);
});

test("closing and opening again and again gives no number twice", async (t) => {
  const desk = new Desk(t);
  for (let i = 0; i < 20; i++) await desk.record(said("a\nb"), END);
  assert.deepEqual(desk.numbers(), numbers(1, 60));
});

test("the end of a long recording is found without reading the whole", async (t) => {
  const desk = new Desk(t);
  mkdirSync(dirname(desk.file), { recursive: true });
  const line = `${JSON.stringify({ seq: 1, ts: "t", kind: "notice", sessionId: "s", text: "x".repeat(1000) })}\n`;
  writeFileSync(desk.file, line.repeat(20_000));
  let read = 0;
  const recording = await desk.open({
    look(path) {
      const bytes = readFileSync(path);
      return {
        size: bytes.length,
        read(target, position) {
          read += target.length;
          return bytes.copy(target, 0, position);
        },
        append: () => Promise.reject(new Error("not here")),
        sizeNow: () => bytes.length,
        isInPlace: () => true,
        close() {},
      };
    },
    open: () => {
      throw new Error("not here");
    },
  });
  assert.equal(recording.seq, 1);
  assert.ok(read < 200_000, String(read));
});

test("what is taken in one turn of the event loop is one append, and a number is given at once", async (t) => {
  const desk = new Desk(t);
  let appends = 0;
  const recording = await desk.open(
    failingFiles((file, bytes) => {
      appends++;
      return file.append(bytes);
    }),
  );
  for (const n of numbers(1, 1000)) assert.equal(recording.take(said(`${n}\n`)), n);
  await recording.written();
  assert.equal(appends, 1);
  assert.deepEqual(desk.numbers(), numbers(1, 1000));
  await turns();
  assert.deepEqual(bodyOf(desk.records()[0] ?? {}), { kind: "text-delta", text: "1\n" });
});
