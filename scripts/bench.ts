// Measures the product beside bare Node doing the same work, in one run on one machine, and prints the ratios.
//
//   npm run bench -- [--sessions 400] [--mb 120] [--big-mb 300] [--line-mb 80] [--opencode-mb 200] [--rollouts 800]
//                    [--export-mb 1000]
//                    [--seed 1] [--rounds 9] [--only page,listing,…] [--keep FOLDER] [--json]
//
// A figure is the median of rounds that alternate between the product and its baseline. Nothing here passes or fails:
// the exit code tells whether everything could be measured.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir, totalmem } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { append } from "./bench/append.ts";
import { big } from "./bench/big.ts";
import { clients } from "./bench/clients.ts";
import { codex } from "./bench/codex.ts";
import { dashboard } from "./bench/dashboard.ts";
import { exporting } from "./bench/export.ts";
import { makeHistories, SCALE } from "./bench/histories.ts";
import { idlePoll } from "./bench/idle-poll.ts";
import { listing } from "./bench/listing.ts";
import { loopDelay } from "./bench/loop-delay.ts";
import { type Bench, type Measure, NotMeasurable, type Row } from "./bench/measure.ts";
import { memory } from "./bench/memory.ts";
import { opencode } from "./bench/opencode.ts";
import { page } from "./bench/page.ts";
import { recorder } from "./bench/recorder.ts";
import { runs } from "./bench/runs.ts";
import { start } from "./bench/start.ts";
import { compared, type Missing, tableOf } from "./bench/table.ts";

const MEASURES: readonly Measure[] = [
  page,
  listing,
  start,
  memory,
  append,
  loopDelay,
  big,
  clients,
  idlePoll,
  runs,
  opencode,
  codex,
  recorder,
  exporting,
  dashboard,
];

const text = { type: "string" } as const;
const { values: options } = parseArgs({
  options: {
    sessions: { ...text, default: "400" },
    mb: { ...text, default: "120" },
    "big-mb": { ...text, default: "300" },
    "line-mb": { ...text, default: "80" },
    "opencode-mb": { ...text, default: "200" },
    seed: { ...text, default: "1" },
    rounds: { ...text, default: "9" },
    rollouts: { ...text, default: "800" },
    "export-mb": { ...text, default: "1000" },
    only: text,
    keep: text,
    json: { type: "boolean", default: false },
  },
});

const scratch = mkdtempSync(join(tmpdir(), "agent-bridge-bench-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));

const sizes = {
  seed: positive("seed"),
  sessions: positive("sessions"),
  mb: positive("mb"),
  bigMb: positive("big-mb"),
  lineMb: positive("line-mb"),
  opencodeMb: positive("opencode-mb"),
};
const measures = chosenMeasures();
progress("making the histories");
let folders = 0;
const bench: Bench = {
  ...makeHistories(options.keep === undefined ? scratch : resolve(options.keep), sizes),
  rounds: positive("rounds"),
  seed: sizes.seed,
  rollouts: positive("rollouts"),
  exportMb: positive("export-mb"),
  folder(name) {
    const folder = join(scratch, `${name}-${folders++}`);
    mkdirSync(folder, { mode: 0o700 });
    return folder;
  },
  progress,
};

const machine = {
  cpu: cpus()[0]?.model.trim() ?? "unknown",
  cores: cpus().length,
  memoryGB: Math.round(totalmem() / 1e9),
  node: process.versions.node,
  platform: process.platform,
};
const rows: Row[] = [];
const missing: Missing[] = [];
for (const measure of measures) {
  progress(measure.name);
  try {
    rows.push(...(await measure.run(bench)));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    missing.push({ measure: measure.name, reason });
    if (!(error instanceof NotMeasurable)) process.exitCode = 1;
  }
}
progress("");
if (missing.length > 0) process.exitCode = 1;
if (options.json) printJson();
else printTable();
// A client's kept connection or a child that did not end must not hold the run up.
process.exit();

function printJson(): void {
  const compare = (row: Row) => ({ ...row, compared: compared(row) });
  console.log(JSON.stringify({ machine, sizes, scale: SCALE, rows: rows.map(compare), missing }, null, 2));
}

function printTable(): void {
  const { cpu, cores, memoryGB, node, platform } = machine;
  console.log(`${cpu}, ${cores} cores, ${memoryGB} GB, ${platform}, Node ${node}`);
  console.log(
    `${sizes.sessions} sessions of ${sizes.mb} MB (slope: against a ${SCALE}th of that), a session of ${sizes.bigMb} MB with a line of ${sizes.lineMb} MB, a database of OpenCode of ${sizes.opencodeMb} MB, seed ${sizes.seed}\n`,
  );
  for (const { name, about } of measures) console.log(`${name.padEnd(10)}  ${about}`);
  console.log(`\n${tableOf(rows)}`);
  for (const { measure, reason } of missing) console.log(`${measure}: not measured: ${reason}`);
}

function chosenMeasures(): readonly Measure[] {
  if (options.only === undefined) return MEASURES;
  const names = options.only.split(",");
  const unknown = names.filter((name) => !MEASURES.some((measure) => measure.name === name));
  if (unknown.length > 0)
    fail(`no measure ${unknown.join(", ")}; there are ${MEASURES.map(({ name }) => name).join(", ")}`);
  return MEASURES.filter(({ name }) => names.includes(name));
}

function positive(
  name: "sessions" | "mb" | "big-mb" | "line-mb" | "opencode-mb" | "seed" | "rounds" | "rollouts" | "export-mb",
): number {
  const value = Number(options[name]);
  if (!(value > 0)) fail(`--${name} takes a number above 0`);
  return value;
}

function fail(reason: string): never {
  console.error(reason);
  process.exit(2);
}

function progress(what: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${what}`);
}
