import { type WrittenRollouts, writeRollouts } from "../history/rollouts.ts";
import { chatPath, pageThrough } from "./chat.ts";
import { runBare, runProduct } from "./child.ts";
import { askAll, readEdges } from "./edges.ts";
import { lateness } from "./lateness.ts";
import type { Bench, Measure, Row } from "./measure.ts";
import { listAll } from "./memory.ts";
import { readInProcess } from "./page.ts";
import { interleaved, timed } from "./stats.ts";
import { storeOver } from "./store.ts";

const SCALE = 4;
/** Chats that pages are measured on. */
const LONG_BYTES = 24_000_000;
/** Chats that are paged while the memory is watched. */
const PAGED = 40;

/** Sessions of Codex, which are many and in folders by day: lists, pages, memory. */
export const codex: Measure = {
  name: "codex",
  about:
    "Codex: lists against reading 64 KiB at both ends of every rollout (cold) or one stat each, pages against read and JSON.parse, memory of the server against the bare one",
  async run(bench) {
    bench.progress(`codex: writing ${bench.rollouts} rollouts`);
    const small = written(bench, Math.max(1, Math.round(bench.rollouts / SCALE)));
    const large = written(bench, bench.rollouts);
    const long = written(bench, 2, LONG_BYTES);
    return [
      ...(await listRows(bench, small, large)),
      ...(await pageRows(bench, long)),
      ...(await memoryRows(bench, small, large)),
      ...(await longMemoryRows(bench, long)),
    ];
  },
};

function written(bench: Bench, count: number, bytes?: number): WrittenRollouts {
  return writeRollouts(bench.folder("codex"), bench.seed, count, bytes);
}

async function listRows(bench: Bench, small: WrittenRollouts, large: WrittenRollouts): Promise<Row[]> {
  const [few, many] = [await listed(bench, small), await listed(bench, large)];
  const count = `${large.rollouts.length} rollouts`;
  const grown = large.rollouts.length / small.rollouts.length;
  const row = (what: string, name: "cold" | "sweep" | "quick", bare: number, aim?: string): Row => ({
    measure: "codex",
    what: `${what}, ${count}`,
    unit: "ms",
    compare: "ratio",
    ours: many[name],
    bare,
    slope: many[name] / few[name] / grown,
    aim,
  });
  return [
    row("list, cold", "cold", many.edges, "≤ 5 ×"),
    row("list, unchanged, every file asked anew", "sweep", many.stats),
    row("list, unchanged, quick", "quick", many.stats),
    {
      measure: "codex",
      what: `max loop delay while cold, ${count}`,
      unit: "ms",
      compare: "difference",
      ours: many.late,
      bare: many.idle,
      slope: many.late / few.late,
      aim: "≤ +20 ms",
    },
  ];
}

async function listed(bench: Bench, { home, rollouts }: WrittenRollouts) {
  const known = storeOver(home, "codex");
  const { length } = await known.list("sweep");
  if (length !== rollouts.length) throw new Error(`${length} of ${rollouts.length} rollouts are listed`);
  const files = rollouts.map(({ file }) => file);
  const figures = await interleaved(bench.rounds, {
    edges: () => timed(() => readEdges(files)),
    cold: () => timed(() => storeOver(home, "codex").list("sweep")),
    stats: () => timed(() => askAll(files)),
    sweep: () => timed(() => known.list("sweep")),
    quick: () => timed(() => known.list("quick")),
  });
  return { ...figures, ...(await lateness(() => storeOver(home, "codex").list("sweep"))) };
}

async function pageRows(bench: Bench, { home, rollouts }: WrittenRollouts): Promise<Row[]> {
  const store = storeOver(home, "codex");
  const rows: Row[] = [];
  for (const [index, rollout] of rollouts.entries()) {
    const early = await readInProcess(bench, store, rollout, "start");
    const late = await readInProcess(bench, store, rollout, "end");
    const what = index === 0 ? "events (0.134)" : "items (0.171)";
    const row = { measure: "codex", unit: "ms", compare: "ratio", bare: late.bare, aim: "≤ 1.5 ×" } as const;
    rows.push({ ...row, what: `page, entries, ${what}`, ours: late.entries, slope: late.entries / early.entries });
    rows.push({ ...row, what: `page, entries to JSON, ${what}`, ours: late.json, slope: late.json / early.json });
  }
  return rows;
}

async function memoryRows(bench: Bench, small: WrittenRollouts, large: WrittenRollouts): Promise<Row[]> {
  const [few, many] = [await watched(bench, small), await watched(bench, large)];
  const row = { measure: "codex", unit: "MB", compare: "ratio", aim: "≤ 150 MB" } as const;
  const count = `${large.rollouts.length} rollouts`;
  return [
    {
      ...row,
      what: `memory after the first list, ${count}`,
      ours: many.rest,
      bare: many.bareRest,
      slope: many.rest / few.rest,
    },
    {
      ...row,
      what: `peak memory, ${PAGED} chats paged`,
      ours: many.peak,
      bare: many.barePeak,
      slope: many.peak / few.peak,
    },
  ];
}

async function longMemoryRows(bench: Bench, long: WrittenRollouts): Promise<Row[]> {
  const { peak, barePeak } = await watched(bench, long);
  const what = `peak memory, ${(long.bytes / 1e6).toFixed(0)} MB of long chats paged`;
  return [{ measure: "codex", what, unit: "MB", compare: "ratio", ours: peak, bare: barePeak, aim: "≤ 150 MB" }];
}

/** The server's memory after its first list, and its peak after a client has paged through some chats. */
async function watched(bench: Bench, { home, rollouts }: WrittenRollouts) {
  const product = await runProduct(home, bench.folder("bridge"));
  const bare = await runBare();
  try {
    await listAll(product.client);
    const rest = product.child.memory("VmRSS");
    const bareRest = bare.child.memory("VmRSS");
    for (const rollout of rollouts.slice(-PAGED)) {
      const ranges = await pageThrough(product.client, chatPath(rollout, "codex"));
      for (const { start, end } of ranges) {
        await bare.client.body(`/page?file=${encodeURIComponent(rollout.file)}&from=${start}&to=${end}`);
      }
    }
    return { rest, bareRest, peak: product.child.memory("VmHWM"), barePeak: bare.child.memory("VmHWM") };
  } finally {
    await product.close();
    await bare.close();
  }
}
