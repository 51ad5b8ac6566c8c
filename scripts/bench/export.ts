import type { WrittenSession } from "../history.ts";
import { chatPath } from "./chat.ts";
import { runBareParse, runCommand, runProduct } from "./child.ts";
import { writeOne } from "./histories.ts";
import type { Bench, Measure, Row } from "./measure.ts";
import { interleaved, timed } from "./stats.ts";

/** Each round reads whole gigabytes. */
const ROUNDS = 3;
/** How much smaller the session is that memory is compared with. */
const SMALLER = 4;

/** A session to be exported, in a home of its own. */
interface Written {
  readonly what: string;
  readonly home: string;
  readonly session: WrittenSession;
}

/** A whole session, exported by the command and by a server. */
export const exporting: Measure = {
  name: "export",
  about:
    "the whole document, by the command and by a server that has just started, against a process that reads and parses the file",
  async run(bench) {
    const usual = written(bench, "a usual session", bench.exportMb);
    const dense = written(bench, "every record shown", bench.exportMb, 0);
    const small = written(bench, "a small session", bench.exportMb / SMALLER);
    const rows = [...(await timesOf(bench, usual)), ...(await timesOf(bench, dense))];
    const ours = await peakOf(bench, usual);
    const slope = ours / (await peakOf(bench, small));
    const what = `peak memory of the server, ${bench.exportMb} MB exported`;
    return [...rows, { measure: "export", what, unit: "MB", compare: "ratio", ours, slope }];
  },
};

async function timesOf(bench: Bench, { what, home, session }: Written): Promise<Row[]> {
  const command = (format: string) => () => timed(() => runCommand(home, ["export", session.id, "--format", format]));
  const { bare, ...ours } = await interleaved(
    ROUNDS,
    {
      bare: () => timed(() => runBareParse(session.file)),
      json: command("json"),
      markdown: command("markdown"),
      html: command("html"),
      "json over HTTP": () => overHttp(bench, home, session).then(({ ms }) => ms),
    },
    0,
  );
  const row = { measure: "export", unit: "ms", compare: "ratio", aim: "≤ 3 ×", bare } as const;
  return Object.entries(ours).map(([how, ms]) => ({ ...row, what: `${what}, ${how}`, ours: ms }));
}

async function peakOf(bench: Bench, { home, session }: Written): Promise<number> {
  return (await overHttp(bench, home, session)).peak;
}

/** Exports once from a server that has just started: how long that took, and its peak memory in MB. */
async function overHttp(bench: Bench, home: string, session: WrittenSession): Promise<{ ms: number; peak: number }> {
  const { client, child, close } = await runProduct(home, bench.folder("bridge"));
  try {
    const path = `${chatPath(session).replace(/chat$/, "export")}?format=json`;
    const ms = await timed(() => client.drain(path));
    return { ms, peak: child.memory("VmHWM") };
  } finally {
    await close();
  }
}

function written(bench: Bench, what: string, mb: number, hidden?: number): Written {
  const home = bench.folder("export");
  return { what, home, session: writeOne(home, bench.seed + 300, mb, hidden) };
}
