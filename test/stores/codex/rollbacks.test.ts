import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { START } from "../../../src/transcript/cursor.ts";
import type { Entry } from "../../../src/transcript/entry.ts";
import {
  agentEvent,
  allEntries,
  BUDGET,
  complete,
  found,
  Home,
  line,
  meta,
  NINE,
  started,
  userEvent,
  userItem,
  uuid,
} from "./home.ts";

const ID = uuid(NINE);
const rollback = (turns: unknown): object => line(90, "event_msg", { type: "thread_rolled_back", num_turns: turns });
const turn = (text: string, ...more: string[]): object[] => [
  started(1, "t"),
  ...[text, ...more].map((one) => userEvent(2, one)),
  agentEvent(3, "ok"),
  complete(4, "t"),
];
const itemTurn = (text: string): object[] => {
  const content = [{ type: "text", text, text_elements: [] }];
  const item = { type: "UserMessage", id: "u", content };
  return [
    started(1, "t"),
    line(2, "event_msg", { type: "item_completed", thread_id: ID, turn_id: "t", item }),
    complete(4, "t"),
  ];
};
const shell = userItem(
  5,
  "<user_shell_command>\n<command>\nls\n</command>\n<result>\nExit code: 0\nOutput:\na\n</result>\n</user_shell_command>",
);

for (const [name, header, records, taken] of [
  ["the last turn", {}, [...turn("one"), ...turn("two"), rollback(1)], ["two"]],
  ["several turns", {}, [...turn("one"), ...turn("two"), ...turn("three"), rollback(2)], ["two"]],
  [
    "not what was taken back before",
    {},
    [...turn("one"), ...turn("two"), ...turn("three"), rollback(1), ...turn("four"), rollback(2)],
    ["three", "two"],
  ],
  ["two rollbacks in a row", {}, [...turn("one"), ...turn("two"), rollback(1), rollback(1)], ["two", "one"]],
  ["more than there is: all", {}, [...turn("one"), ...turn("two"), rollback(9)], ["one"]],
  ["a turn with all that was said in it", {}, [...turn("one"), ...turn("two", "and this"), rollback(1)], ["two"]],
  ["a turn that was left", {}, [...turn("one"), started(1, "t"), userEvent(2, "two"), rollback(1)], ["two"]],
  ["not a command of the person's", {}, [...turn("one"), ...turn("two"), shell, rollback(1)], ["two"]],
  ["nothing that is counted", {}, [...turn("one"), rollback("some"), rollback(0)], [undefined, undefined]],
  [
    "prompts of a release that marks no turns",
    { cli_version: "0.80.0" },
    [userEvent(1, "one"), agentEvent(2, "ok"), userEvent(3, "two"), userEvent(4, "three"), rollback(2)],
    ["two"],
  ],
  ["a paginated file", { history_mode: "paginated" }, [...itemTurn("one"), ...itemTurn("two"), rollback(1)], ["two"]],
  [
    "a file without user events",
    {},
    [userItem(1, "one"), line(2, "response_item", { type: "message", role: "assistant", content: [] }), rollback(1)],
    ["one"],
  ],
] as const) {
  test(`a rollback tells where what it takes back begins: ${name}`, async (t) => {
    const home = new Home(t);
    home.rollout(ID, [meta(ID, header), ...records]);
    const ref = await found(home.store(), ID);
    const whole = await allEntries(home.store(), ref);
    const prompts = new Map(whole.flatMap((entry) => (entry.kind === "user" ? [[entry.pos, entry.text]] : [])));
    const texts = (entries: readonly Entry[]): unknown[] =>
      takesBack(entries).map((pos) => (pos === undefined ? undefined : (prompts.get(pos) ?? "no prompt")));
    assert.deepEqual(texts(whole), taken);
    for (const bytes of [1200, 2000]) {
      assert.deepEqual(texts(await allEntries(home.store(), ref, START, bytes)), taken, `${bytes}`);
    }
    const mark = whole.find((entry) => entry.kind === "marker" && entry.marker === "rewind");
    assert.deepEqual(texts((await home.store().entries(ref, mark?.pos ?? START, BUDGET)).entries), taken);
  });
}

test("a rollback tells of prompts up to 8 MiB above it, and of none beyond", async (t) => {
  const filler = "x".repeat(100_000);
  for (const [lines, text] of [
    [70, "two"],
    [90, undefined],
  ] as const) {
    const home = new Home(t);
    const far = Array.from({ length: lines }, (_, index) => agentEvent(index, filler));
    home.rollout(ID, [meta(ID), ...turn("one"), started(5, "t"), userEvent(5, "two"), ...far, rollback(1)]);
    const whole = await allEntries(home.store(), await found(home.store(), ID));
    const [pos] = takesBack(whole);
    const prompt = whole.find((entry) => entry.kind === "user" && entry.pos === pos);
    assert.equal(prompt?.kind === "user" ? prompt.text : pos, text, `${lines} lines`);
  }
});

test("rollbacks go back to what a stack of the turns says, however the chat is paged", async (t) => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ steered: fc.boolean(), left: fc.boolean(), size: fc.nat(3000) }) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 4 }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const home = new Home(t);
      const records: object[] = [meta(ID)];
      const turns: string[] = [];
      const expected: (string | undefined)[] = [];
      for (const [index, one] of steps.entries()) {
        if (typeof one === "number") {
          expected.push(turns.splice(Math.max(0, turns.length - one))[0]);
          records.push(rollback(one));
          continue;
        }
        turns.push(`turn ${index}`);
        records.push(started(1, "t"), userEvent(2, `turn ${index}`), agentEvent(3, "x".repeat(one.size)));
        if (one.steered) records.push(userEvent(4, `in turn ${index}`));
        if (!one.left) records.push(complete(5, "t"));
      }
      home.rollout(ID, records);
      const ref = await found(home.store(), ID);
      const whole = await allEntries(home.store(), ref);
      const prompts = new Map(whole.flatMap((entry) => (entry.kind === "user" ? [[entry.pos, entry.text]] : [])));
      assert.deepEqual(
        takesBack(whole).map((pos) => pos && prompts.get(pos)),
        expected,
      );
      assert.deepEqual(await allEntries(home.store(), ref, START, 3500), whole);
    }),
    { numRuns: 40 },
  );
});

function takesBack(entries: readonly Entry[]): (Entry["pos"] | undefined)[] {
  return entries.flatMap((entry) => (entry.kind === "marker" && entry.marker === "rewind" ? [entry.takesBack] : []));
}
