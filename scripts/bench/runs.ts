import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type EpochMs, systemClock } from "../../src/platform/clock.ts";
import { RunInventory } from "../../src/runs/inventory.ts";
import { RUN_LIMIT } from "../../src/runs/page.ts";
import { type WrittenRuns, writeLostJobs, writeRuns } from "../history/runs.ts";
import { lateness } from "./lateness.ts";
import type { Bench, Measure, Row } from "./measure.ts";
import { interleaved, timed } from "./stats.ts";

const RUNS = 20_000;
const SCALE = 4;

/** Lists of many runs: a first page by an inventory that knows nothing, the same page again, and how long others wait. */
export const runs: Measure = {
  name: "runs",
  about:
    "the first page of all runs: cold against listing and asking every log and reading the page's files, warm against asking the page's files; how late the loop ran meanwhile",
  async run(bench) {
    const named = await atTwoSizes(bench, "named");
    const told = await atTwoSizes(bench, "told");
    const lost = await besideLostJobs(bench);
    return [...rowsOf("names tell the jobs", named), ...rowsOf("metadata tells the jobs", told), lost];
  },
};

interface Figures {
  readonly cold: number;
  readonly bareCold: number;
  readonly warm: number;
  readonly bareWarm: number;
  readonly sweep: number;
  readonly bareSweep: number;
  readonly late: number;
  readonly idle: number;
}

interface Sizes {
  readonly small: Figures;
  readonly large: Figures;
}

function rowsOf(what: string, { small, large }: Sizes): Row[] {
  const row = (name: string, ours: "cold" | "warm" | "sweep", bare: "bareCold" | "bareWarm" | "bareSweep"): Row => ({
    measure: "runs",
    what: `${name}, ${RUNS} runs, ${what}`,
    unit: "ms",
    compare: "ratio",
    ours: large[ours],
    bare: large[bare],
    slope: large[ours] / small[ours] / (ours === "warm" ? 1 : SCALE),
  });
  return [
    row("first page, cold", "cold", "bareCold"),
    row("first page, unchanged", "warm", "bareWarm"),
    row("every file asked anew", "sweep", "bareSweep"),
    {
      measure: "runs",
      what: `max loop delay while cold, ${what}`,
      unit: "ms",
      compare: "difference",
      ours: large.late,
      bare: large.idle,
      slope: large.late / small.late,
      aim: "≤ +10 ms",
    },
  ];
}

async function atTwoSizes(bench: Bench, jobs: "named" | "told"): Promise<Sizes> {
  bench.progress(`runs: writing ${RUNS} runs`);
  const small = await figuresOf(bench, writeRuns(bench.folder("runs"), RUNS / SCALE, jobs));
  const large = await figuresOf(bench, writeRuns(bench.folder("runs"), RUNS, jobs));
  return { small, large };
}

/** So few logs have every file asked at each look. */
const FEW = 1_000;
const LOST = 60_000;

/** The first page, unchanged, of a few logs and many jobs without one, against asking each log and its metadata. */
async function besideLostJobs(bench: Bench): Promise<Row> {
  bench.progress(`runs: writing ${LOST} jobs without a log`);
  const figures = async (lost: number): Promise<{ readonly warm: number; readonly bare: number }> => {
    const { bridgeHome } = writeRuns(bench.folder("lost"), FEW, "told");
    writeLostJobs(bridgeHome, lost);
    const known = new RunInventory({ bridgeHome, clock: systemClock });
    await known.page(undefined);
    const files = logsIn(bridgeHome).flatMap(([folder, name]) =>
      [name, `${name.slice(0, -4)}.json`].map((each) => join(folder, each)),
    );
    return interleaved(bench.rounds, {
      warm: () => timed(() => known.page(undefined)),
      bare: () => timed(() => files.map((path) => statSync(path, { bigint: true }))),
    });
  };
  const [small, large] = [await figures(LOST / SCALE), await figures(LOST)];
  return {
    measure: "runs",
    what: `first page, unchanged, ${FEW} runs beside ${LOST} jobs without a log`,
    unit: "ms",
    compare: "ratio",
    ours: large.warm,
    bare: large.bare,
    slope: large.warm / small.warm,
  };
}

async function figuresOf({ rounds }: Bench, { bridgeHome, count }: WrittenRuns): Promise<Figures> {
  const fresh = (): RunInventory => new RunInventory({ bridgeHome, clock: systemClock });
  const known = fresh();
  const { total } = await known.page(undefined);
  if (total !== count) throw new Error(`${total} of ${count} runs are listed`);
  const newest = newestIn(bridgeHome);
  // A clock that has gone on for 20 s makes the next look a sweep.
  let later = 0;
  const now = (): EpochMs => {
    later += 20_000;
    return (systemClock.now() + later) as EpochMs;
  };
  const sweeping = new RunInventory({ bridgeHome, clock: { now } });
  const figures = await interleaved(rounds, {
    cold: () => timed(() => fresh().page(undefined)),
    bareCold: () => timed(() => bareCold(bridgeHome, newest)),
    warm: () => timed(() => known.page(undefined)),
    bareWarm: () => timed(() => newest.map((path) => statSync(path))),
    sweep: () => timed(() => sweeping.page(undefined)),
    bareSweep: () => timed(() => askAll(bridgeHome)),
  });
  return { ...figures, ...(await lateness(() => fresh().page(undefined))) };
}

/** The files of the newest runs. */
function newestIn(bridgeHome: string): readonly string[] {
  return logsIn(bridgeHome)
    .sort(([, a], [, b]) => (a < b ? 1 : -1))
    .slice(0, RUN_LIMIT)
    .flatMap(([folder, name]) => [join(folder, name), join(folder, `${name.slice(0, -4)}.json`)]);
}

function logsIn(bridgeHome: string): [folder: string, name: string][] {
  return ["runs", "runs/archive"].flatMap((below) => {
    const folder = join(bridgeHome, below);
    return readdirSync(folder)
      .filter((name) => name.endsWith(".log"))
      .map((name): [string, string] => [folder, name]);
  });
}

function askAll(bridgeHome: string): void {
  for (const [folder, name] of logsIn(bridgeHome)) statSync(join(folder, name), { bigint: true });
}

function bareCold(bridgeHome: string, newest: readonly string[]): void {
  askAll(bridgeHome);
  for (const path of newest) {
    const text = readFileSync(path, "utf8");
    if (path.endsWith(".json")) JSON.parse(text);
  }
  JSON.parse(readFileSync(join(bridgeHome, "jobs.json"), "utf8"));
}
