import { PAGE_BYTES } from "../../src/transcript/limits.ts";
import { chatPath, freshPages, lineCursor } from "./chat.ts";
import { type Running, runProduct } from "./child.ts";
import { writeOne } from "./histories.ts";
import type { Bench, Measure, Row } from "./measure.ts";
import { median, timed } from "./stats.ts";

const PLAIN_MB = 4;
const SERVERS = 5;
const WARM_PAGES = 40;

/** A session of hundreds of megabytes with a line that no page holds, opened everywhere. */
export const big: Measure = {
  name: "big",
  about:
    "a page of the session with one long line, first and again, against a page of a small session; again may be a page that the server kept",
  async run(bench) {
    const { session } = bench.big;
    const places = {
      "its start": "from=0",
      "its end": "from=tail",
      "before a cursor behind the long line": `before=j:${session.lineEnd}:0`,
      "from the long line": `from=j:${session.lineStart}:0`,
      "from inside the long line": `from=j:${session.lineStart + PAGE_BYTES}:1`,
      "the last piece of the long line": `from=j:${session.lineEnd - 1000}:1`,
      "from behind the long line": `from=j:${session.lineEnd}:0`,
    };
    const first = new Map<string, number[]>();
    const again = new Map<string, number[]>();
    const plain: number[] = [];
    let peak = 0;
    for (let round = 0; round < SERVERS; round++) {
      const { server, plainPage } = await warmServer(bench);
      try {
        for (const [what, query] of Object.entries(places)) {
          const open = (): Promise<number> => timed(() => server.client.body(`${chatPath(session)}?${query}`));
          note(first, what, await open());
          note(again, what, await open());
          plain.push(await plainPage());
        }
        peak = server.child.memory("VmHWM");
      } finally {
        await server.close();
      }
    }
    const row = { measure: "big", unit: "ms", compare: "ratio", bare: median(plain) } as const;
    const rows = Object.keys(places).flatMap((what): Row[] => [
      { ...row, what: `${what}, first`, ours: median(first.get(what) ?? []), aim: "≈ 1 ×" },
      { ...row, what: `${what}, again`, ours: median(again.get(what) ?? []), aim: "≈ 1 ×" },
    ]);
    return [
      ...rows,
      { measure: "big", what: "peak memory", unit: "MB", compare: "ratio", ours: peak, aim: "≤ 150 MB" },
    ];
  },
};

/** A server over the big session and a plain one, whose code is warm from reading the plain one. */
async function warmServer(bench: Bench): Promise<{ server: Running; plainPage: () => Promise<number> }> {
  const home = bench.big.home;
  const plain = writeOne(home, bench.seed + 200, PLAIN_MB);
  const server = await runProduct(home, bench.folder("bridge"));
  const pages = freshPages(plain, "start", 2 * WARM_PAGES).values();
  const plainPage = (): Promise<number> => {
    const { start } = pages.next().value ?? { start: 0 };
    return timed(() => server.client.body(`${chatPath(plain)}?from=${lineCursor(start)}`));
  };
  for (let i = 0; i < WARM_PAGES; i++) await plainPage();
  return { server, plainPage };
}

function note(times: Map<string, number[]>, what: string, ms: number): void {
  times.set(what, [...(times.get(what) ?? []), ms]);
}
