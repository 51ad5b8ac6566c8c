import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import type { History } from "../history.ts";
import type { Bench, Measure, Row } from "./measure.ts";
import { interleaved, timed } from "./stats.ts";
import { claudeStoreOver } from "./store.ts";

const EDGE_BYTES = 64 * 1024;

/** Listing all sessions, by a store that knows nothing yet and by one that has listed before. */
export const listing: Measure = {
  name: "listing",
  about:
    "listing: cold against opening every session's file and reading 64 KiB at both ends; unchanged against one stat each",
  async run(bench) {
    const small = await listed(bench, bench.small);
    const large = await listed(bench, bench.large);
    const grown = bench.large.sessions.length / bench.small.sessions.length;
    const row = (what: string, name: "cold" | "sweep" | "quick", bare: number, aim?: string): Row => ({
      measure: "listing",
      what,
      unit: "ms",
      compare: "ratio",
      ours: large[name],
      bare,
      slope: large[name] / small[name] / grown,
      aim,
    });
    const count = `${bench.large.sessions.length} sessions`;
    return [
      row(`cold, ${count}`, "cold", large.edges, "≤ 5 ×"),
      row(`unchanged, every file asked anew, ${count}`, "sweep", large.stats),
      row(`unchanged, quick, ${count}`, "quick", large.stats),
    ];
  },
};

async function listed(bench: Bench, history: History) {
  const known = claudeStoreOver(history.home);
  const sessions = await known.list("sweep");
  if (sessions.length < history.sessions.length) {
    throw new Error(`${sessions.length} of ${history.sessions.length} sessions are listed`);
  }
  return interleaved(bench.rounds, {
    edges: () => timed(() => readEdges(history)),
    cold: () => timed(() => claudeStoreOver(history.home).list("sweep")),
    stats: () => timed(() => askAll(history)),
    sweep: () => timed(() => known.list("sweep")),
    quick: () => timed(() => known.list("quick")),
  });
}

const head = Buffer.allocUnsafe(EDGE_BYTES);
const tail = Buffer.allocUnsafe(EDGE_BYTES);

function readEdges(history: History): void {
  for (const file of transcriptsIn(history)) {
    const descriptor = openSync(file, "r");
    const { size } = fstatSync(descriptor);
    readSync(descriptor, head, 0, EDGE_BYTES, 0);
    if (size > EDGE_BYTES) readSync(descriptor, tail, 0, EDGE_BYTES, size - EDGE_BYTES);
    closeSync(descriptor);
  }
}

function askAll(history: History): void {
  for (const file of transcriptsIn(history)) statSync(file);
}

function* transcriptsIn(history: History): Generator<string> {
  const projects = join(history.home, ".claude", "projects");
  for (const folder of readdirSync(projects)) {
    for (const name of readdirSync(join(projects, folder))) {
      if (name.endsWith(".jsonl")) yield join(projects, folder, name);
    }
  }
}
