import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { History } from "../history.ts";
import { askAll, readEdges } from "./edges.ts";
import type { Bench, Measure, Row } from "./measure.ts";
import { interleaved, timed } from "./stats.ts";
import { storeOver } from "./store.ts";

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
  const known = storeOver(history.home, "claude");
  const sessions = await known.list("sweep");
  if (sessions.length < history.sessions.length) {
    throw new Error(`${sessions.length} of ${history.sessions.length} sessions are listed`);
  }
  return interleaved(bench.rounds, {
    edges: () => timed(() => readEdges(transcriptsIn(history))),
    cold: () => timed(() => storeOver(history.home, "claude").list("sweep")),
    stats: () => timed(() => askAll(transcriptsIn(history))),
    sweep: () => timed(() => known.list("sweep")),
    quick: () => timed(() => known.list("quick")),
  });
}

function* transcriptsIn(history: History): Generator<string> {
  const projects = join(history.home, ".claude", "projects");
  for (const folder of readdirSync(projects)) {
    for (const name of readdirSync(join(projects, folder))) {
      if (name.endsWith(".jsonl")) yield join(projects, folder, name);
    }
  }
}
