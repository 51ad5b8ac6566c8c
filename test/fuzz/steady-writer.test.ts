import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  type Chats,
  type Course,
  followEvents,
  newChats,
  pollChat,
  pollLists,
  receivedOf,
  streamChat,
  walkBack,
  walkOnce,
} from "./clients.ts";
import { Received } from "./received.ts";
import { serveWritten } from "./server.ts";
import { type Agent, LINE_AGENTS, ROW_AGENTS } from "./tapes.ts";
import type { Written } from "./writer.ts";

/** How long is written, in seconds: a minute in `.ci/run`. */
const SECONDS = Number(process.env.STEADY_SECONDS ?? "5");
/** Records a second of each agent. */
const RATE = 1_000;
/** The clients give up when none of them was given anything for so long: OpenCode's rows may come again for five seconds. */
const STALLED_MS = 20_000;
/** When all stop in any case. */
const MOST_MS = SECONDS * 3_000 + 120_000;

// Not all five at once: on two cores the clients themselves would not keep up.
for (const agents of [LINE_AGENTS, ROW_AGENTS]) {
  const title = `five clients get every one of ${RATE} records a second of each of ${agents.join(", ")}, once`;
  test(title, { timeout: MOST_MS + 60_000 }, (t) => steady(t, agents));
}

async function steady(t: TestContext, agents: readonly Agent[]): Promise<void> {
  const order = { agents, seconds: SECONDS, rate: RATE };
  const served = await serveWritten(t, "writer.ts", agents, order);
  const { api, memory } = served;
  let written: (Written & { readonly at: number }) | undefined;
  const ending = served.written.then((text) => {
    written = { ...(JSON.parse(text) as Written), at: performance.now() };
    return written;
  });
  const last = { deadline: performance.now() + MOST_MS, sum: 0, at: performance.now() };
  const course: Course = {
    isComplete: ({ count }) => count === written?.records,
    get deadline() {
      const sum = readers.reduce((total, { count }) => total + count, 0);
      if (sum !== last.sum) Object.assign(last, { sum, at: performance.now() });
      return Math.min(last.deadline, last.at + STALLED_MS);
    },
  };
  const clients = ["poll", "stream", "events", "walk"].map((name) => newChats(name, agents));
  const [polled, streamed, told, walked] = clients as [Chats, Chats, Chats, Chats];
  const listed = new Received("list");
  const readers = [polled, streamed, told].flatMap((chats) => [...chats.values()]);
  const isOver = (): boolean =>
    performance.now() >= course.deadline || (written !== undefined && readers.every((each) => course.isComplete(each)));
  const [unchanged, { records, ms, at }] = await Promise.all([
    pollLists(api, agents, listed, isOver),
    ending,
    followEvents(api, told, course),
    ...agents.flatMap((agent) => [
      pollChat(api, agent, receivedOf(polled, agent), course),
      streamChat(api, agent, receivedOf(streamed, agent), course),
      walkBack(api, agent, receivedOf(polled, agent), receivedOf(walked, agent), course),
    ]),
  ]);
  const behind = Math.round(performance.now() - at);
  const pages: string[] = [];
  for (const agent of agents) {
    pages.push(`${agent} ${await walkOnce(api, agent, records, receivedOf(walked, agent))}`);
  }
  t.diagnostic(
    `${agents.join(", ")}: ${records} records each in ${ms} ms; the last client had them ${behind} ms later`,
  );
  t.diagnostic(`pages of the last walk: ${pages.join(", ")}; ${unchanged} answers to list polls were 304`);
  t.diagnostic(`the server's memory: at most ${memory.peak} MB, at last ${memory.last} MB`);

  const faults = [...readers, ...walked.values(), listed].flatMap((each) => each.faults);
  assert.deepEqual(faults, []);
  assert.deepEqual(
    readers.map(({ name, count, resets }) => [name, count, resets]),
    readers.map(({ name }) => [name, SECONDS * RATE, 0]),
  );
  await served.end();
}
