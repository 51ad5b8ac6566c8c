import assert from "node:assert/strict";
import { appendFileSync, writeFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../../src/platform/clock.ts";
import { ClaudeChats } from "../../../src/stores/claude/chats.ts";
import type { ClaudePlace } from "../../../src/stores/claude/place.ts";
import { TotalsCounter } from "../../../src/stores/claude/totals.ts";
import { START } from "../../../src/transcript/cursor.ts";
import { answer, claudeHome, type Line, prompt, sessionId } from "./claude-home.ts";
import { wholeChat } from "./fixtures.ts";

const id = sessionId(1);
const BUDGET = { bytes: 2_000, parts: 200 };
const figures = (n: number) => ({ input_tokens: n, output_tokens: 2 * n });

/** A session of `lines`, its chats that show what they read to a counter, and a counter that nobody shows anything. */
async function session(t: TestContext, lines: readonly Line[]) {
  const home = claudeHome(t);
  const path = home.write("-home-dev-proj", `${id}.jsonl`, lines);
  const ref = await home.store().find(id);
  const place = ref?.place as ClaudePlace;
  const counter = new TotalsCounter();
  const chats = new ClaudeChats({
    clock: systemClock,
    isLive: () => false,
    counter: (at, read) => counter.follow(at, read),
  });
  return { home, path, place, counter, chats };
}

function turns(from: number, to: number, more: object = {}): Line[] {
  const lines: Line[] = [];
  for (let n = from; n < to; n++) lines.push(prompt(`p${n}`), answer(`m${n}`, figures(n), { uuid: `a${n}`, ...more }));
  return lines;
}

test("what was read for the chat is not read again to be counted, and counts the same", async (t) => {
  const lines = [...turns(1, 40), ...turns(40, 45, { isSidechain: true }), ...turns(45, 60)];
  const { place, counter, chats, path, home } = await session(t, lines);
  await wholeChat(chats, place, BUDGET);
  const totals = await counter.totals(place);
  assert.equal(counter.bytesRead, 0);
  assert.deepEqual(totals, await new TotalsCounter().totals(place));
  home.append(path, turns(60, 62));
  assert.deepEqual(await counter.totals(place), await new TotalsCounter().totals(place));
  assert.ok(counter.bytesRead < 3_000);
});

test("a chat that was read in part is counted from there on", async (t) => {
  const { place, counter, chats } = await session(t, turns(1, 60));
  await chats.entries(place, START, BUDGET);
  const last = await chats.before(place, "tail", BUDGET);
  await chats.entries(place, last.next, BUDGET);
  assert.deepEqual(await counter.totals(place), await new TotalsCounter().totals(place));
  assert.ok(counter.bytesRead > 0);
});

test("a half-written last line, and a line that no page holds, are counted when they are whole", async (t) => {
  const { place, counter, chats, path } = await session(t, turns(1, 30));
  const long = answer("long", figures(1_000), { message: undefined });
  const text = JSON.stringify({
    ...(long as object),
    message: {
      id: "long",
      role: "assistant",
      model: "m",
      content: [{ type: "text", text: "x".repeat(5_000) }],
      usage: figures(1_000),
    },
  });
  appendFileSync(path, `${text}\n${JSON.stringify(answer("half", figures(7)))}`);
  await wholeChat(chats, place, BUDGET);
  assert.deepEqual(await counter.totals(place), await new TotalsCounter().totals(place));
  appendFileSync(path, "\n");
  await wholeChat(chats, place, BUDGET);
  assert.deepEqual(await counter.totals(place), await new TotalsCounter().totals(place));
});

test("a long line that is no answer does not hold up the count", async (t) => {
  const { place, counter, chats, path, home } = await session(t, turns(1, 30));
  home.append(path, [prompt("x".repeat(5_000)), ...turns(30, 60)]);
  await wholeChat(chats, place, BUDGET);
  const totals = await counter.totals(place);
  assert.equal(counter.bytesRead, 0);
  assert.deepEqual(totals, await new TotalsCounter().totals(place));
});

test("a transcript that is written anew between two pages is counted anew", async (t) => {
  const { place, counter, chats, path } = await session(t, turns(1, 40));
  const { next } = await chats.entries(place, START, BUDGET);
  writeFileSync(path, [...turns(100, 150)].map((line) => `${JSON.stringify(line)}\n`).join(""));
  await chats.entries(place, next, BUDGET);
  await wholeChat(chats, place, BUDGET);
  assert.deepEqual(await counter.totals(place), await new TotalsCounter().totals(place));
});
