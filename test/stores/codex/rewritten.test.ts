import assert from "node:assert/strict";
import { appendFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import type { CodexStore } from "../../../src/stores/codex/store.ts";
import { START } from "../../../src/transcript/cursor.ts";
import {
  agentEvent,
  BUDGET,
  childMeta,
  complete,
  found,
  Home,
  line,
  linesOf,
  meta,
  NINE,
  started,
  toldChat,
  userEvent,
  uuid,
} from "./home.ts";

const ID = uuid(NINE);
const usage = (input: number): object => ({ input_tokens: input, output_tokens: 1, total_tokens: input + 1 });
const tokens = (input: number): object =>
  line(3, "event_msg", {
    type: "token_count",
    info: { total_token_usage: usage(input), last_token_usage: usage(input) },
  });
const talk = (words: string, input: number, cwd = "/home/dev/demo"): object[] => [
  meta(ID, { cwd }),
  userEvent(1, words),
  agentEvent(2, "yes"),
  tokens(input),
];
const paginatedTalk = (words: string): object[] => {
  const item = (value: object): object =>
    line(1, "event_msg", { type: "item_completed", thread_id: ID, turn_id: "t", item: value });
  return [
    meta(ID, { history_mode: "paginated" }),
    item({ type: "UserMessage", content: [{ type: "text", text: words }] }),
    item({ type: "AgentMessage", content: [{ type: "Text", text: "yes" }] }),
  ];
};

/** Writes `records` over the same file: its inode stays. */
function rewrite(path: string, records: readonly object[], at: number): void {
  const { ino } = statSync(path);
  writeFileSync(path, linesOf(records));
  utimesSync(path, new Date(NINE), new Date(NINE + at));
  assert.equal(statSync(path).ino, ino);
}

async function shown(store: CodexStore): Promise<unknown[]> {
  const [row] = await store.list("sweep");
  const totals = await store.totals(await found(store, ID));
  return [row?.title, row?.cwd, totals?.tokens.input];
}

test("a rollout that is rewritten in place is read anew: as long, longer, or shorter", async (t) => {
  const home = new Home(t);
  const path = home.rollout(ID, talk("first", 10));
  const store = home.store();
  assert.deepEqual(await shown(store), ["first", "/home/dev/demo", 10]);
  rewrite(path, talk("later", 20, "/home/dev/else"), 1);
  assert.deepEqual(await shown(store), ["later", "/home/dev/else", 20]);
  rewrite(path, talk("longer than it was", 30), 2);
  assert.deepEqual(await shown(store), ["longer than it was", "/home/dev/demo", 30]);
  rewrite(path, talk("short", 40), 3);
  assert.deepEqual(await shown(store), ["short", "/home/dev/demo", 40]);
});

test("a rollout that is rewritten in place to another kind of file shows its messages", async (t) => {
  const home = new Home(t);
  const path = home.rollout(ID, talk("first", 10));
  const store = home.store();
  const ref = await found(store, ID);
  const { next } = await store.entries(ref, START, BUDGET);
  rewrite(path, [...paginatedTalk("second"), ...Array(20).fill(agentEvent(9, "not shown"))], 1);
  const page = await store.entries(ref, next, BUDGET);
  assert.equal(page.reset, true);
  assert.deepEqual(
    page.entries.map((entry) => (entry.kind === "user" || entry.kind === "assistant" ? entry.text : entry.kind)),
    ["second", "yes"],
  );
  assert.deepEqual(await toldChat(store, ID), ['user: "second"', 'assistant: "yes"']);
});

test("a rollout that only grew is not read anew, at its head or for its tokens", async (t) => {
  const home = new Home(t);
  const path = home.rollout(ID, [...talk("first", 10), ...Array(300).fill(agentEvent(4, "x".repeat(300)))]);
  const store = home.store();
  assert.deepEqual(await shown(store), ["first", "/home/dev/demo", 10]);
  home.work.take();
  appendFileSync(path, linesOf([tokens(25)]));
  await store.list("sweep");
  const { head, tail } = home.work.take();
  assert.deepEqual([head, tail], [undefined, 1]);
  assert.deepEqual(await shown(store), ["first", "/home/dev/demo", 25]);
});

test("a child that is rewritten in place has the status of what it holds now", async (t) => {
  const home = new Home(t);
  const child = uuid(NINE + 1000);
  home.rollout(ID, [meta(ID), userEvent(1, "hi")]);
  const path = home.rollout(child, [childMeta(child, ID, {}, 1000), started(1001, "t"), complete(1002, "t")]);
  const store = home.store();
  const status = async (): Promise<unknown> => (await store.children(await found(store, ID))).children[0]?.status;
  assert.equal(await status(), "done");
  const aborted = line(1002, "event_msg", { type: "turn_aborted", turn_id: "t", reason: "interrupted" });
  rewrite(path, [childMeta(child, ID, {}, 1000), started(1001, "t"), aborted], 1);
  assert.equal(await status(), "interrupted");
});
