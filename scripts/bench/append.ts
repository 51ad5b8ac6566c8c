import { runBare, runProduct } from "./child.ts";
import { writeOne } from "./histories.ts";
import type { Bench, Measure, Row } from "./measure.ts";
import { median, percentile } from "./stats.ts";
import { appendInTurn, Streams } from "./streams.ts";

const APPENDS = 100;
const MB = { small: 0.3, large: 48 };

/** How long an appended record takes to reach a client of the chat's stream. */
export const append: Measure = {
  name: "append",
  about: "from appending a record to its arrival at a chat/stream client, against a bare fs.watch + SSE server",
  async run(bench) {
    const small = await appended(bench, MB.small);
    const large = await appended(bench, MB.large);
    const row = { measure: "append", unit: "ms", compare: "ratio" } as const;
    const rows: Row[] = [50, 99].map((percent) => ({
      ...row,
      what: `p${percent} of ${APPENDS} appends to ${MB.large} MB`,
      ours: percentile(large.ours, percent),
      bare: percentile(large.bare, percent),
      slope: median(large.ours) / median(small.ours),
      aim: "≤ 100 ms",
    }));
    return rows;
  },
};

async function appended(bench: Bench, mb: number): Promise<{ ours: number[]; bare: number[] }> {
  const home = bench.folder("home");
  const ours = writeOne(home, bench.seed, mb);
  const other = writeOne(bench.folder("home"), bench.seed + 1, mb);
  const product = await runProduct(home, bench.folder("bridge"));
  const bare = await runBare();
  try {
    const streams = await Streams.ofProduct(product, ours, 1);
    const bareStreams = await Streams.ofBare(bare, other, 1);
    const times = await appendInTurn(streams, bareStreams, APPENDS);
    streams.close();
    bareStreams.close();
    return times;
  } finally {
    await product.close();
    await bare.close();
  }
}
