import type { History } from "../history.ts";
import { chatPath, type PageRange, pageThrough } from "./chat.ts";
import { type Running, runBare, runProduct } from "./child.ts";
import type { Client } from "./client.ts";
import type { Bench, Measure, Row } from "./measure.ts";

/** Memory of the server while one client reads everything there is, subagents too. */
export const memory: Measure = {
  name: "memory",
  about: "VmRSS before and VmHWM after a client paged through every chat, against the bare server after the same pages",
  async run(bench) {
    const small = await paged(bench, bench.small);
    const large = await paged(bench, bench.large);
    const row = { measure: "memory", unit: "MB", compare: "ratio" } as const;
    const mb = (bench.large.bytes / 1e6).toFixed(0);
    const rows: Row[] = [
      {
        ...row,
        what: "at rest, after the first list",
        ours: large.rest,
        bare: large.bareRest,
        slope: large.rest / small.rest,
      },
      {
        ...row,
        what: `peak, ${mb} MB paged`,
        ours: large.peak,
        bare: large.barePeak,
        slope: large.peak / small.peak,
        aim: "≤ 150 MB",
      },
    ];
    return rows;
  },
};

interface Paged {
  readonly rest: number;
  readonly peak: number;
  readonly bareRest: number;
  readonly barePeak: number;
}

async function paged(bench: Bench, history: History): Promise<Paged> {
  const product = await runProduct(history.home, bench.folder("bridge"));
  const bare = await runBare();
  try {
    await listAll(product.client);
    const rest = product.child.memory("VmRSS");
    const bareRest = bare.child.memory("VmRSS");
    for (const session of history.sessions) {
      await both(product, bare, chatPath(session), session.file);
      for (const agent of session.agents) {
        await both(product, bare, `/api/transcripts/claude/${session.id}/subagents/${agent.id}`, agent.file);
      }
    }
    return { rest, bareRest, peak: product.child.memory("VmHWM"), barePeak: bare.child.memory("VmHWM") };
  } finally {
    await product.close();
    await bare.close();
  }
}

async function both(product: Running, bare: Running, path: string, file: string): Promise<void> {
  const ranges: PageRange[] = await pageThrough(product.client, path);
  for (const { start, end } of ranges) {
    await bare.client.body(`/page?file=${encodeURIComponent(file)}&from=${start}&to=${end}`);
  }
}

/** Walks the whole list of a server. */
export async function listAll(client: Client): Promise<void> {
  let before: string | null = "";
  while (before !== null) {
    const query: string = before === "" ? "" : `&before=${encodeURIComponent(before)}`;
    const { next }: { next: string | null } = await client.json(`/api/transcripts?limit=500${query}`);
    before = next;
  }
}
