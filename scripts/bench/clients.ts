import { runBare, runProduct } from "./child.ts";
import { writeOne } from "./histories.ts";
import type { Measure, Row } from "./measure.ts";
import { median } from "./stats.ts";
import { appendInTurn, Streams } from "./streams.ts";

const FEW = 20;
const MANY = 200;
const APPENDS = 30;

/** Many clients of one chat's stream. */
export const clients: Measure = {
  name: "clients",
  about: "an appended record's way to the last of 200 stream clients, and memory a client, against fs.watch + SSE",
  async run(bench) {
    const home = bench.folder("home");
    const ours = writeOne(home, bench.seed, 1);
    const other = writeOne(bench.folder("home"), bench.seed + 1, 1);
    const product = await runProduct(home, bench.folder("bridge"));
    const bare = await runBare();
    const memories = () => ({ ours: product.child.memory("VmRSS"), bare: bare.child.memory("VmRSS") });
    const served = async (count: number) => {
      const streams = await Streams.ofProduct(product, ours, count);
      const bareStreams = await Streams.ofBare(bare, other, count);
      const times = await appendInTurn(streams, bareStreams, APPENDS);
      const memory = memories();
      streams.close();
      bareStreams.close();
      return { ours: median(times.ours), bare: median(times.bare), memory };
    };
    try {
      await served(FEW);
      const few = await served(FEW);
      const many = await served(MANY);
      const perClient = (server: "ours" | "bare") => ((many.memory[server] - few.memory[server]) * 1000) / (MANY - FEW);
      const rows: Row[] = [
        {
          measure: "clients",
          what: `p50 until the last of ${MANY} has it`,
          unit: "ms",
          compare: "ratio",
          ours: many.ours,
          bare: many.bare,
          slope: many.ours / few.ours / (MANY / FEW),
        },
        {
          measure: "clients",
          what: "memory a client",
          unit: "KB",
          compare: "ratio",
          ours: perClient("ours"),
          bare: perClient("bare"),
        },
        {
          measure: "clients",
          what: `memory with ${MANY}`,
          unit: "MB",
          compare: "ratio",
          ours: many.memory.ours,
          bare: many.memory.bare,
          aim: "≤ 150 MB",
        },
      ];
      return rows;
    } finally {
      await product.close();
      await bare.close();
    }
  },
};
