import { chatPath, pageThrough } from "./chat.ts";
import { Child, type LoopDelay, runProduct } from "./child.ts";
import type { Client } from "./client.ts";
import type { Bench, Measure, Row } from "./measure.ts";

/** Long enough for the sweep that runs every 10 s. */
const LEAST_MS = 12_000;

/** How late the loops of the product and of an idle process were at the same time. */
export interface Phase {
  readonly ours: LoopDelay;
  readonly idle: LoopDelay;
}

/** How late the server's event loop runs while it lists and serves, by a probe inside the built file's process. */
export const loopDelay: Measure = {
  name: "loop-delay",
  about: "perf_hooks' loop delay inside the built server's process against an idle process at the same time",
  async run(bench) {
    const small = await delays(bench, "small");
    const large = await delays(bench, "large");
    const big = await watched(bench, bench.big.home, async (client) => {
      const path = chatPath(bench.big.session);
      for (const query of ["from=0", "from=tail", `before=j:${bench.big.session.lineEnd}:0`]) {
        await client.body(`${path}?${query}`);
      }
    });
    const count = `${bench.large.sessions.length} sessions`;
    return [
      ...delayRows("loop-delay", `first list, ${count}`, large.listing, small.listing),
      ...delayRows("loop-delay", "paging, with a sweep", large.paging, small.paging),
      ...delayRows("loop-delay", "opening the session with the long line", big),
    ];
  },
};

/** The rows of a phase; `smaller` is the same work at the smaller size. */
export function delayRows(measure: string, what: string, phase: Phase, smaller?: Phase): Row[] {
  const row = { measure, unit: "ms", compare: "difference", aim: "≤ +50 ms" } as const;
  return (["p999", "max"] as const).map((name) => ({
    ...row,
    what: `${name === "p999" ? "p99.9" : "max"}, ${what}`,
    ours: phase.ours[name],
    bare: phase.idle[name],
    ...(smaller && { slope: phase.ours[name] / smaller.ours[name] }),
  }));
}

async function delays(bench: Bench, which: "small" | "large"): Promise<{ listing: Phase; paging: Phase }> {
  const history = bench[which];
  let listing: Phase | undefined;
  const paging = await watched(bench, history.home, async (client, phase) => {
    await client.body("/api/transcripts?limit=500");
    listing = await phase();
    const until = performance.now() + LEAST_MS;
    while (performance.now() < until) {
      for (const session of history.sessions.slice(0, 5)) await pageThrough(client, chatPath(session));
      await client.body("/api/transcripts?limit=500");
    }
  });
  return { listing: listing ?? paging, paging };
}

/** Runs `work` against a product and beside an idle process; what both loops were late since `phase` was last called. */
export async function watched(
  bench: Bench,
  home: string,
  work: (client: Client, phase: () => Promise<Phase>) => Promise<void>,
): Promise<Phase> {
  const idle = Child.idle();
  const product = await runProduct(home, bench.folder("bridge"), { probe: true });
  const phase = async (): Promise<Phase> => {
    const [ours, alone] = await Promise.all([product.child.loopDelay(), idle.loopDelay()]);
    return { ours, idle: alone };
  };
  try {
    await phase();
    await work(product.client, phase);
    return await phase();
  } finally {
    await product.close();
    await idle.close();
  }
}
