import { Failure } from "../platform/failure.ts";
import { RUN_LIMIT } from "../runs/page.ts";
import type { JobSummary } from "../runs/summary.ts";
import { printable } from "../transcript/printable.ts";
import { type OptionValues, wholeNumber } from "./arguments.ts";
import { type Context, command, type ExitCode, home, json } from "./command.ts";
import { printJson } from "./print.ts";
import { withProgress } from "./progress.ts";
import { emptyListNote, requireListed } from "./run-log.ts";
import { fieldLines, jobTable } from "./run-tables.ts";
import { styleFor } from "./style.ts";
import { refuseOtherOptions, type Verbs } from "./verbs.ts";

const OPTIONS = {
  limit: wholeNumber("N", `ls: at most so many (${RUN_LIMIT})`, [1, 1_000_000]),
  json: { ...json, help: "print JSON" },
  home,
};

type Values = OptionValues<typeof OPTIONS>;

const VERBS: Verbs<typeof OPTIONS> = { ls: ["limit", "json"], show: ["json"] };

/** `jobs`: what agents were set to do, each with all its runs. */
export const jobs = command({
  name: "jobs",
  summary: "list jobs, or show one",
  operands: {
    shown: "[ls|show] [NAME]",
    least: 0,
    most: 2,
    completes: ([verb]) => (verb === undefined ? Object.keys(VERBS) : verb === "ls" ? undefined : "job"),
  },
  options: OPTIONS,
  verbs: VERBS,
  notes: ["Jobs are those of jobs.json, its backups and archives; each turn of a job is a run."],
  examples: [
    ["jobs", "the latest jobs"],
    ["jobs show codex-job-4be1a7d2", "everything that is saved of one"],
  ],
  async run(context, { options, operands: [verb = "ls", name] }) {
    refuseOtherOptions("jobs", VERBS, verb, options);
    if (verb === "show") {
      if (name === undefined || name === "")
        throw new Failure("usage", "jobs show needs the name of a job; see agent-bridge jobs");
      return show(context, options, name);
    }
    if (verb !== "ls") throw new Failure("usage", `jobs does not know "${verb}"; it takes ls or show`);
    if (name !== undefined) throw new Failure("usage", "jobs ls takes no name");
    return list(context, options);
  },
});

async function list(context: Context, options: Values): Promise<ExitCode> {
  const { terminal, bridge, environment } = context;
  const { limit = RUN_LIMIT } = options;
  const inventory = bridge.runs(environment(options.home));
  const all = await withProgress(terminal, "Reading the jobs", () => inventory.jobs());
  const jobs = all.slice(0, limit);
  if (options.json) await printJson(terminal, { jobs, total: all.length });
  else if (jobs.length > 0) await table(context, jobs, all.length);
  requireListed(inventory);
  if (!options.json && all.length === 0) await terminal.err(await emptyListNote(inventory, "jobs"));
  return 0;
}

async function table({ terminal, clock }: Context, jobs: readonly JobSummary[], total: number): Promise<void> {
  const shown = { columns: terminal.columns, style: styleFor(terminal), now: clock.now() };
  await terminal.out(`${jobTable(jobs, shown).join("\n")}\n`);
  if (total > jobs.length) await terminal.err(`${total - jobs.length} more; --limit ${total} lists all\n`);
}

async function show({ terminal, bridge, environment }: Context, options: Values, name: string): Promise<ExitCode> {
  const inventory = bridge.runs(environment(options.home));
  const job = await inventory.job(name);
  if (job === undefined) {
    requireListed(inventory);
    throw new Failure("not-found", `no job "${printable(name)}"; see agent-bridge jobs`);
  }
  if (options.json) await printJson(terminal, job.summary);
  else await terminal.out(`${fieldLines(job.summary).join("\n")}\n`);
  return 0;
}
