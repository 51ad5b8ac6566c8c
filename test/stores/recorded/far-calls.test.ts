import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type Cursor, START } from "../../../src/transcript/cursor.ts";
import type { Entry } from "../../../src/transcript/entry.ts";
import { toItems } from "../../../src/transcript/item.ts";
import { EXPORT_RECORD_BYTES, LOOK_BACK_BYTES } from "../../../src/transcript/limits.ts";
import { type Body, BUDGET, Home, lines, settled } from "./home.ts";

const prompt: Body = { kind: "user-prompt", text: "go" };
const end: Body = { kind: "turn-end", reason: "completed" };
const called = (toolCallId: string, input: unknown, toolName = "write"): Body => ({
  kind: "tool-call",
  toolCallId,
  toolName,
  arguments: input,
});
const updated = (toolCallId: string, input: unknown): Body => ({ ...called(toolCallId, input, ""), isUpdate: true });
const gave = (toolCallId: string, result: unknown, isError = false): Body => ({
  kind: "tool-result",
  toolCallId,
  result,
  isError,
});

/** Records that say nothing to a reader of the chat, `bytes` of them in all. */
function filler(bytes: number): Body[] {
  const size = 400_000;
  return Array.from({ length: Math.ceil(bytes / size) }, () => ({ kind: "newer-kind", pad: "x".repeat(size) }));
}

/** One call that grows through `count` records of 100 KB. */
function growing(count: number): string {
  const updates = Array.from({ length: count }, (_, n) => updated("g", { path: `p${n}`, text: "z".repeat(100_000) }));
  return lines([prompt, called("g", { path: "p" }), ...updates, gave("g", "ok"), end]);
}

/** Counts the characters of JSON that are parsed from now on. */
function countParsed(t: TestContext): () => number {
  let characters = 0;
  const { parse } = JSON;
  t.mock.method(JSON, "parse", (text: string, ...rest: [] | [(key: string, value: unknown) => unknown]) => {
    characters += text.length;
    return parse(text, ...rest);
  });
  return () => {
    const counted = characters;
    characters = 0;
    return counted;
  };
}

/** Every page from the end to the start, by a reader of whom nothing is known between two pages. */
async function backward(home: Home, id: string, eachPage: () => void = () => {}): Promise<Entry[]> {
  const ref = await home.ref(id);
  const pages: (readonly Entry[])[] = [];
  for (let before: Cursor | "tail" | null = "tail"; before !== null; ) {
    const page = await home.store.before(ref, before, BUDGET);
    pages.unshift(page.entries);
    before = page.prev;
    eachPage();
  }
  return pages.flat();
}

const whole = async (home: Home, pos: Cursor): Promise<Entry | undefined> =>
  home.store.farCall(await home.ref("ses_1"), pos, EXPORT_RECORD_BYTES);

test("a call that grows through more than is looked back is one item from either end, and read once", async (t) => {
  const home = new Home(t);
  const parsed = countParsed(t);
  for (const count of [100, 200]) {
    const content = growing(count);
    home.write("ses_1", content);
    parsed();
    const entries = settled((await home.read("ses_1", BUDGET.bytes)).entries);
    assert.ok(parsed() < content.length * 1.05, `${count} records, forward`);
    assert.deepEqual(
      toItems(entries).map(({ id, tool, summary, text }) => [id, tool, summary, text]),
      [
        ["e1", undefined, undefined, "go"],
        ["e2", "write", `p${count - 1}`, "ok"],
      ],
    );
    const back = await backward(home, "ses_1", () => assert.ok(parsed() < 2.2 * LOOK_BACK_BYTES));
    assert.deepEqual(settled(back), entries, `${count} records, backward`);
  }
});

test("a reader who begins within such a call is told its first record's id, its name and its newest input", async (t) => {
  const home = new Home(t);
  const records = growing(150).split(/(?<=\n)/);
  home.write("ses_1", records.join(""));
  const from = `j:${records.slice(0, 140).join("").length}:0` as Cursor;
  const [call] = (await home.store.entries(await home.ref("ses_1"), from, BUDGET)).entries;
  assert.deepEqual(toItems(call ? [call] : []), [
    { kind: "tool", at: call?.at, tool: "write", summary: "p142", id: "e2", ref: call?.pos },
  ]);
});

test("what comes to a call from further than is looked back says so, and the call is given whole", async (t) => {
  const home = new Home(t);
  const far = filler(LOOK_BACK_BYTES + 1_000_000);
  const short = [called("a", { path: "short" }), gave("a", "s")];
  home.write("ses_1", lines([prompt, called("f", { v: 1 }, "Far"), ...far, ...short, updated("f", { v: "FINAL" })]));
  home.append("ses_1", lines([gave("f", "done"), called("r", { path: "x" }), ...far, gave("r", "late"), end], 30));
  const { entries } = await home.read("ses_1", BUDGET.bytes);
  const continuing = settled(entries).filter((entry) => "continues" in entry);
  assert.deepEqual(
    continuing.map((entry) => [entry.kind, "callId" in entry && entry.callId]),
    [
      ["tool-call", "f"],
      ["tool-result", "r"],
    ],
  );
  assert.deepEqual(toItems(continuing)[1]?.tool, "result");
  const calls = await home.store.farCalls(await home.ref("ses_1"));
  assert.deepEqual(
    [...calls.values()].map(({ callId }) => callId),
    ["f", "r"],
  );
  const told = await Promise.all([...calls.keys()].map((pos) => whole(home, pos)));
  assert.deepEqual(
    told.map((entry) => entry?.kind === "tool-call" && [entry.id, entry.tool, entry.input, entry.output]),
    [
      ["e2", "Far", { v: "FINAL" }, "done"],
      ["e31", "write", { path: "x" }, "late"],
    ],
  );
  assert.deepEqual(
    [...calls.keys()].map((pos) => entries.find((entry) => entry.pos === pos)?.id),
    told.map((entry) => entry?.id),
  );
});

test("a far call is given whole with an input and a result that are longer than a page", async (t) => {
  const home = new Home(t);
  const long = "y".repeat(700_000);
  const far = filler(LOOK_BACK_BYTES);
  home.write("ses_1", lines([prompt, called("f", {}), ...far, updated("f", { long }), ...far, gave("f", long), end]));
  const [pos] = (await home.store.farCalls(await home.ref("ses_1"))).keys();
  const call = await whole(home, pos ?? START);
  assert.ok(call?.kind === "tool-call");
  assert.deepEqual([call.input, call.output, call.isError], [{ long }, long, false]);
});

test("a second result far behind the first stands for itself, and an id that is used again is a call of its own", async (t) => {
  const home = new Home(t);
  const far = filler(LOOK_BACK_BYTES + 1_000_000);
  home.write("ses_1", lines([prompt, called("f", { v: 1 }), ...far, gave("f", "A"), ...far, gave("f", "B")]));
  home.append("ses_1", lines([called("f", { v: 2 }), gave("f", "C")], 60));
  const entries = settled((await home.read("ses_1", BUDGET.bytes)).entries);
  assert.deepEqual(
    toItems(entries.filter((entry) => !("continues" in entry))).map(({ text }) => text),
    ["go", undefined, "B", "C"],
  );
  const [[pos] = []] = [...(await home.store.farCalls(await home.ref("ses_1")))];
  const call = await whole(home, pos ?? START);
  assert.deepEqual(call?.kind === "tool-call" && [call.input, call.output], [{ v: 1 }, "A"]);
});

test("calls that stand far apart and close are the same items from either end", async (t) => {
  const seed = Date.now() % 1_000_000;
  t.diagnostic(`seed ${seed}`);
  let state = seed;
  const roll = (n: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const id = (): string => `t${roll(3)}`;
  const kinds: (() => Body)[] = [
    () => called(id(), { path: `p${roll(99)}` }),
    () => updated(id(), roll(3) === 0 ? {} : { path: `q${roll(99)}` }),
    () => ({ ...updated(id(), { path: `n${roll(99)}` }), toolName: "named" }),
    () => gave(id(), `out ${roll(99)}`),
    () => gave(id(), null, true),
    () => ({ kind: "agent-prompt", toolCallId: id(), options: [{ name: "Yes" }] }),
    () => ({ kind: "permission-resolved", toolCallId: id(), decision: "approve" }),
    () => (roll(3) === 0 ? prompt : end),
  ];
  const home = new Home(t);
  for (let round = 0; round < 1; round++) {
    const bodies = Array.from({ length: 40 }, () => [
      ...filler(roll(4) * 500_000),
      (kinds[roll(kinds.length)] ?? (() => end))(),
    ]);
    home.write("ses_1", lines(bodies.flat()));
    const entries = settled((await home.read("ses_1", BUDGET.bytes)).entries);
    assert.deepEqual(byPlace(settled(await backward(home, "ses_1"))), byPlace(entries), `seed ${seed}, round ${round}`);
  }
});

const byPlace = (entries: Entry[]): Entry[] => entries.sort((a, b) => offset(a) - offset(b));
const offset = ({ pos }: Entry): number => Number(pos.split(":")[1]);
