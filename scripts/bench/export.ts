import type { WrittenSession } from "../history.ts";
import { chatPath } from "./chat.ts";
import { type Running, runBare, runProduct } from "./child.ts";
import { writeOne } from "./histories.ts";
import type { Bench, Measure, Row } from "./measure.ts";
import { interleaved, timed } from "./stats.ts";

/** Each round reads whole gigabytes. */
const ROUNDS = 3;
const FORMATS = ["json", "markdown", "html"] as const;
/** How much smaller the session is that memory is compared with. */
const SMALLER = 4;

/** A whole session, exported over HTTP by a server that has just started. */
export const exporting: Measure = {
  name: "export",
  about: "the whole document over HTTP from a fresh server, against a fresh bare server that reads and parses the file",
  async run(bench) {
    const usual = written(bench, bench.exportMb);
    const dense = written(bench, bench.exportMb, 0);
    const small = written(bench, bench.exportMb / SMALLER);
    const rows: Row[] = [];
    let peak = 0;
    for (const { what, home, session } of [
      { what: "a usual session", ...usual },
      { what: "every record shown", ...dense },
    ]) {
      const times = await interleaved(
        ROUNDS,
        {
          bare: () => fresh(runBare, (bare) => bare.client.body(`/parse?file=${encodeURIComponent(session.file)}`)),
          ...Object.fromEntries(
            FORMATS.map((format) => [
              format,
              () =>
                exportOnce(bench, home, session, format, (mb) => {
                  peak = Math.max(peak, mb);
                }),
            ]),
          ),
        } as { readonly [name in "bare" | (typeof FORMATS)[number]]: () => Promise<number> },
        0,
      );
      for (const format of FORMATS) {
        const row = { measure: "export", unit: "ms", compare: "ratio", aim: "≤ 3 ×" } as const;
        rows.push({ ...row, what: `${what}, ${format}`, ours: times[format], bare: times.bare });
      }
    }
    let smallPeak = 0;
    for (const format of FORMATS) {
      await exportOnce(bench, small.home, small.session, format, (mb) => {
        smallPeak = Math.max(smallPeak, mb);
      });
    }
    const what = `peak memory, ${bench.exportMb} MB exported`;
    return [...rows, { measure: "export", what, unit: "MB", compare: "ratio", ours: peak, slope: peak / smallPeak }];
  },
};

function written(
  bench: Bench,
  mb: number,
  hidden?: number,
): { readonly home: string; readonly session: WrittenSession } {
  const home = bench.folder("export");
  return { home, session: writeOne(home, bench.seed + 300, mb, hidden) };
}

function exportOnce(
  bench: Bench,
  home: string,
  session: WrittenSession,
  format: (typeof FORMATS)[number],
  note: (peakMb: number) => void,
): Promise<number> {
  return fresh(
    () => runProduct(home, bench.folder("bridge")),
    async ({ client, child }) => {
      await client.drain(`${chatPath(session).replace(/chat$/, "export")}?format=${format}`);
      note(child.memory("VmHWM"));
    },
  );
}

async function fresh(start: () => Promise<Running>, use: (server: Running) => Promise<unknown>): Promise<number> {
  const server = await start();
  try {
    return await timed(() => use(server));
  } finally {
    await server.close();
  }
}
