// Records a session at a steady rate in the process that streams it to whoever asks, as the product does. Prints its port,
// begins with a GET of /begin, and prints `recorded <records> <CPU ms>` when it has done.
//
//   node recorded-server.ts ours|bare HOME BEFORE RATE SECONDS
//
// BEFORE: records that are there before the first client comes. `bare` does the least that would do: node:http, what it
// records held as text in memory, each turn's records written to the file and to every client at once.

import { appendFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { openRecording } from "../../src/agents/recorder/open.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { environmentFrom } from "../../src/platform/environment.ts";
import { Failure } from "../../src/platform/failure.ts";
import { systemTimer } from "../../src/platform/timer.ts";
import { createWatcher } from "../../src/platform/watch.ts";
import { sessionEventRoutes } from "../../src/routes/session-events.ts";
import { listen } from "../../src/server/listen.ts";
import { route } from "../../src/server/route.ts";
import { ownRecordings } from "../../src/stores/recorded/roots.ts";
import { RecordedStore } from "../../src/stores/recorded/store.ts";
import { requireSessionId } from "../../src/transcript/names.ts";
import { atRate } from "./rate.ts";

const [subject, home = "", before, rate, seconds] = process.argv.slice(2);
const sessionId = requireSessionId("sess_11aa22bb");
const textOf = (count: number): string => `line ${count} of what the agent says, about as long as lines are\n`;
let begin = (): void => {};
const begun = new Promise<void>((resolve) => {
  begin = resolve;
});

const { record, turn } = subject === "ours" ? await ours() : await bare();
for (let count = 1; count <= Number(before); count++) record(count);
await turn();
await begun;
const cpu = process.cpuUsage();
const recorded = await atRate(Number(rate), Number(seconds), (count) => record(Number(before) + count), turn);
const { user, system } = process.cpuUsage(cpu);
console.log(`recorded ${recorded} ${(user + system) / 1000}`);

interface Recorder {
  record(count: number): void;
  turn(): Promise<void>;
}

async function ours(): Promise<Recorder> {
  const environment = environmentFrom({ home });
  const recording = await openRecording({
    folder: ownRecordings(environment),
    sessionId,
    clock: systemClock,
    timer: systemTimer,
    lost: () => process.exit(1),
    late: () => process.exit(1),
  });
  const store = new RecordedStore({ environment, clock: systemClock, watcher: createWatcher(), extraRoots: [] });
  const locate = () => store.find(sessionId);
  const beginning = route({
    method: "GET",
    pattern: "/begin",
    summary: "Begins",
    query: {},
    answer: {},
    access: "open",
    async handle() {
      begin();
      return { kind: "json", body: {} };
    },
  });
  const mount = {
    prefix: "/sessions/:id",
    what: "a session",
    async find() {
      const ref = await locate();
      if (ref === undefined) throw new Failure("not-found", "no such session");
      return { sessionId, store, ref, locate };
    },
  };
  const routes = sessionEventRoutes(mount, { timer: systemTimer }).map((each) => ({
    ...each,
    access: "open" as const,
  }));
  const options = { port: 0, key: () => "", version: "bench", clock: systemClock, log: () => {} };
  const { port } = await listen({ ...options, routes: [beginning, ...routes] });
  console.log(port);
  return {
    record(count) {
      const text = textOf(count);
      recording.take(count === 1 ? { kind: "user-prompt", text } : { kind: "text-delta", text });
    },
    turn: () => recording.room(),
  };
}

async function bare(): Promise<Recorder> {
  const clients = new Set<ServerResponse>();
  const wires: string[] = [];
  let lines = "";
  let wire = "";
  const server = createServer((request, response) => {
    if (request.url === "/begin") {
      begin();
      response.end();
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const each of wires) response.write(each);
    clients.add(response);
    response.on("close", () => clients.delete(response));
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    console.log(typeof address === "object" ? address?.port : address);
  });
  return {
    record(seq) {
      const kind = "text-delta";
      const line = JSON.stringify({ seq, ts: new Date().toISOString(), kind, sessionId, text: textOf(seq) });
      lines += `${line}\n`;
      wire += `id: ${seq}\ndata: ${line}\n\n`;
    },
    async turn() {
      if (wire === "") return;
      appendFileSync(join(home, "events.jsonl"), lines);
      for (const client of clients) client.write(wire);
      wires.push(wire);
      lines = "";
      wire = "";
    },
  };
}
