import assert from "node:assert/strict";
import { test } from "node:test";
import { type Course, followEvents, newChats, pollChat, receivedOf, streamChat, walkOnce } from "./clients.ts";
import type { Received } from "./received.ts";
import type { Replacement } from "./replacer.ts";
import { serveWritten } from "./server.ts";
import { LINE_AGENTS } from "./tapes.ts";

const RATE = 1_000;
/** Records of each file: some longer, some shorter than the one before. */
const FILES = [900, 1_500, 300, 1_200, 1_200, 200, 1_000];
const REPLACEMENTS: readonly Replacement[] = ["rename", "truncate", "delete", "truncate", "rename", "delete"];
const LAST = { generation: FILES.length - 1, records: FILES[FILES.length - 1] ?? 0 };
/** Writing takes about ten seconds. */
const MOST_MS = 60_000;

const ORDER = { agents: LINE_AGENTS, files: FILES, replacements: REPLACEMENTS, rate: RATE };

function course(holds: boolean): Course {
  return {
    isComplete: ({ generation, count }) => generation === LAST.generation && count === LAST.records,
    deadline: performance.now() + MOST_MS,
    mayBeGone: true,
    holds,
  };
}

function assertOnlyTheLast(readers: readonly Received[]): void {
  assert.deepEqual(
    readers.flatMap(({ faults }) => faults),
    [],
  );
  for (const { name, generation, count, resets } of readers) {
    assert.deepEqual([name, generation, count], [name, LAST.generation, LAST.records]);
    // What is found while it is being replaced may be told twice.
    assert.ok(resets >= 1 && resets <= 2 * REPLACEMENTS.length, `${name}: ${resets} resets`);
  }
}

test("a stream that is held is told of every new file, also where its lines begin as those of the old", {
  timeout: 2 * MOST_MS,
}, async (t) => {
  const { api, written, end } = await serveWritten(t, "replacer.ts", LINE_AGENTS, { ...ORDER, apart: false });
  const [streamed, told] = [newChats("stream", LINE_AGENTS), newChats("events", LINE_AGENTS)];
  const held = course(true);
  const streams = LINE_AGENTS.map((agent) => streamChat(api, agent, receivedOf(streamed, agent), held));
  await Promise.all([written, followEvents(api, told, held), ...streams]);
  assertOnlyTheLast([...streamed.values(), ...told.values()]);
  await end();
});

test("who comes back with a cursor of a file that was replaced is told so, and gets all of the new one", {
  timeout: 2 * MOST_MS,
}, async (t) => {
  const { api, written, memory, end } = await serveWritten(t, "replacer.ts", LINE_AGENTS, { ...ORDER, apart: true });
  const [polled, streamed, told] = ["poll", "stream", "events"].map((name) => newChats(name, LINE_AGENTS)) as [
    ReturnType<typeof newChats>,
    ReturnType<typeof newChats>,
    ReturnType<typeof newChats>,
  ];
  const broken = course(false);
  const clients = LINE_AGENTS.flatMap((agent) => [
    pollChat(api, agent, receivedOf(polled, agent), broken),
    streamChat(api, agent, receivedOf(streamed, agent), broken),
  ]);
  await Promise.all([written, followEvents(api, told, broken), ...clients]);
  for (const agent of LINE_AGENTS) await walkOnce(api, agent, LAST.records, receivedOf(polled, agent));
  const readers = [polled, streamed, told].flatMap((chats) => [...chats.values()]);
  t.diagnostic(`resets: ${readers.map(({ name, resets }) => `${name} ${resets}`).join(", ")}`);
  t.diagnostic(`the server's memory: at most ${memory.peak} MB, at last ${memory.last} MB`);
  assertOnlyTheLast(readers);
  await end();
});
