import { createServer } from "node:net";
import { join } from "node:path";
import type { History } from "../history.ts";
import { Child, cookieIn } from "./child.ts";
import { Client } from "./client.ts";
import { type Bench, type Measure, NotMeasurable, type Row } from "./measure.ts";
import { interleaved, timed } from "./stats.ts";

const RETRY_MS = 2;
const GIVE_UP_MS = 60_000;

/** From starting a process to its first answer. */
export const start: Measure = {
  name: "start",
  about: "from spawn to the first 200: the built file against a bare node:http server on the same Node",
  async run(bench) {
    const small = await started(bench, bench.small);
    const large = await started(bench, bench.large);
    const grown = bench.large.sessions.length / bench.small.sessions.length;
    const row = { measure: "start", unit: "ms", compare: "ratio" } as const;
    const count = `${bench.large.sessions.length} sessions`;
    const health = { ...row, what: `first answer, ${count}`, ours: large.health, bare: large.bare };
    const list = { ...row, what: `first list, ${count}; bare reads 64 KiB at both ends`, ours: large.list };
    const rows: Row[] = [
      { ...health, slope: large.health / small.health, aim: "≤ 1.5 ×" },
      { ...list, bare: large.edges, slope: large.list / small.list / grown },
    ];
    return rows;
  },
};

async function started(bench: Bench, history: History) {
  const bridge = bench.folder("bridge");
  const root = encodeURIComponent(join(history.home, ".claude", "projects"));
  const product = (path: string, isWhole: Whole): Promise<number> =>
    firstAnswer((port) => Child.product(history.home, bridge, { port }), {
      path,
      isWhole,
      headers: () => ({ cookie: cookieIn(bridge) }),
    });
  const bare = (path: string): Promise<number> =>
    firstAnswer((port) => Child.bare(port), { path, isWhole: () => true, headers: () => ({}) });
  return interleaved(bench.rounds, {
    bare: () => bare("/healthz"),
    health: () => product("/healthz", () => true),
    edges: () => bare(`/edges?root=${root}`),
    list: () => product("/api/transcripts?limit=1", (body) => JSON.parse(body).total >= history.sessions.length),
  });
}

/** Whether a 200 is the answer that was waited for. */
type Whole = (body: string) => boolean;

interface Wanted {
  readonly path: string;
  readonly isWhole: Whole;
  /** Asked for each try: the key is not there before the first start has made it. */
  headers(): Record<string, string>;
}

async function firstAnswer(spawn: (port: number) => Child, wanted: Wanted): Promise<number> {
  const port = await freePort();
  let child: Child | undefined;
  try {
    return await timed(async () => {
      child = spawn(port);
      await answered(child, port, wanted);
    });
  } finally {
    await child?.close();
  }
}

async function answered(child: Child, port: number, { path, isWhole, headers }: Wanted): Promise<void> {
  const giveUp = performance.now() + GIVE_UP_MS;
  while (performance.now() < giveUp) {
    try {
      const client = new Client(port, headers());
      const { status, body } = await client.get(path);
      client.close();
      if (status === 200 && isWhole(body.toString())) return;
    } catch {
      if (child.process.exitCode !== null) break;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  throw new NotMeasurable(`${path} was not answered in full: ${child.said()}`);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
