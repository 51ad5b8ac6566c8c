import assert from "node:assert/strict";
import { test } from "node:test";
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
import { AGENTS, type Agent } from "./tapes.ts";
import type { Written } from "./writer.ts";

/** How long is written, in seconds: a minute in `.ci/run`. */
const SECONDS = Number(process.env.STEADY_SECONDS ?? "5");
/** Records a second of each agent. */
const RATE = 1_000;
/** How long the clients have, after the writer, to get the rest: rows of OpenCode may come again for five seconds. */
const GRACE_MS = 30_000;
/** Whose chats are written at the same time. */
const WRITTEN = (process.env.STEADY_AGENTS?.split(",") ?? AGENTS) as readonly Agent[];

test(`five clients get every one of ${RATE} records a second of each agent, once`, {
  timeout: SECONDS * 3_000 + 120_000,
}, async (t) => {
  const order = { agents: WRITTEN, seconds: SECONDS, rate: RATE };
  const served = await serveWritten(t, "writer.ts", WRITTEN, order);
  const { api, memory } = served;
  const begun = performance.now();
  let written: (Written & { readonly at: number }) | undefined;
  const ending = served.written.then((text) => {
    written = { ...(JSON.parse(text) as Written), at: performance.now() };
    return written;
  });
  const course: Course = {
    isComplete: ({ count }) => count === written?.records,
    get deadline() {
      return (written?.at ?? begun + SECONDS * 2_000) + GRACE_MS;
    },
  };
  const clients = ["poll", "stream", "events", "walk"].map((name) => newChats(name, WRITTEN));
  const [polled, streamed, told, walked] = clients as [Chats, Chats, Chats, Chats];
  const listed = new Received("list");
  const readers = [polled, streamed, told].flatMap((chats) => [...chats.values()]);
  const isOver = (): boolean =>
    performance.now() >= course.deadline || (written !== undefined && readers.every((each) => course.isComplete(each)));
  const [unchanged, { records, ms, at }] = await Promise.all([
    pollLists(api, WRITTEN, listed, isOver),
    ending,
    followEvents(api, told, course),
    ...WRITTEN.flatMap((agent) => [
      pollChat(api, agent, receivedOf(polled, agent), course),
      streamChat(api, agent, receivedOf(streamed, agent), course),
      walkBack(api, agent, receivedOf(polled, agent), receivedOf(walked, agent), course),
    ]),
  ]);
  const behind = Math.round(performance.now() - at);
  const pages: string[] = [];
  for (const agent of WRITTEN) {
    pages.push(`${agent} ${await walkOnce(api, agent, records, receivedOf(walked, agent))}`);
  }
  t.diagnostic(
    `${WRITTEN.join(", ")}: ${records} records each in ${ms} ms; the last client had them ${behind} ms later`,
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
});
