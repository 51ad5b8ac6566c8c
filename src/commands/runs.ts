import { Failure } from "../platform/failure.ts";
import { RUN_LIMIT } from "../runs/page.ts";
import type { RunSummary } from "../runs/summary.ts";
import { printable } from "../transcript/printable.ts";
import { flag, type OptionValues, wholeNumber } from "./arguments.ts";
import { type Context, command, type ExitCode, home, json } from "./command.ts";
import { printJson } from "./print.ts";
import { withProgress } from "./progress.ts";
import { emptyListNote, followedLog, logEnd, logParts, requireListed, requireRun } from "./run-log.ts";
import { fieldLines, runTable } from "./run-tables.ts";
import { styleFor } from "./style.ts";
import { refuseOtherOptions, type Verbs } from "./verbs.ts";

const LOST = "The log of this run is lost; its chat is in the agent's own store.\n";
/** Lines that `runs tail` prints when it is not told. */
const LINES = 10;

const OPTIONS = {
  limit: wholeNumber("N", `ls: at most so many (${RUN_LIMIT})`, [1, 1_000_000]),
  follow: flag("tail: go on with what is written from now on, until the run has ended", "f"),
  lines: wholeNumber("N", `tail: how many lines to begin with (${LINES})`, [0, 1_000_000], "n"),
  json: { ...json, help: "ls, show: print JSON, as the API does" },
  home,
};

type Values = OptionValues<typeof OPTIONS>;

const VERBS: Verbs<typeof OPTIONS> = { ls: ["limit", "json"], show: ["json"], log: [], tail: ["follow", "lines"] };

/** `runs`: what agents were set to do, one log a turn. */
export const runs = command({
  name: "runs",
  summary: "list runs; show one, print its log or the log's end",
  operands: {
    shown: "[ls|show|log|tail] [NAME]",
    least: 0,
    most: 2,
    completes: ([verb]) => (verb === undefined ? Object.keys(VERBS) : verb === "ls" ? undefined : "run"),
  },
  options: OPTIONS,
  verbs: VERBS,
  notes: [
    "NAME is a run's name, or as much of its beginning or end as no other run has.",
    "A job whose log is lost is listed as a run of its own, under the job's name; its log is empty.",
  ],
  examples: [
    ["runs", "the latest runs"],
    ["runs tail -f 4be1a7d2", "watch a run at work"],
    ["runs --json | jq '.runs[] | select(.status==\"failed\")'", "which of them failed"],
  ],
  async run(context, { options, operands: [verb = "ls", name] }) {
    refuseOtherOptions("runs", VERBS, verb, options);
    switch (verb) {
      case "ls":
        if (name !== undefined) throw new Failure("usage", "runs ls takes no name");
        return list(context, options);
      case "show":
        return show(context, options, required(verb, name));
      case "log":
        return log(context, options, required(verb, name));
      case "tail":
        return tail(context, options, required(verb, name));
      default:
        throw new Failure("usage", `runs does not know "${verb}"; it takes ls, show, log or tail`);
    }
  },
});

async function list(context: Context, options: Values): Promise<ExitCode> {
  const { terminal, bridge, environment } = context;
  const { limit = RUN_LIMIT } = options;
  const inventory = bridge.runs(environment(options.home));
  const { runs, next, total } = await withProgress(terminal, "Reading the runs", () =>
    inventory.page(undefined, limit),
  );
  if (options.json) await printJson(terminal, { runs, next, total });
  else if (runs.length > 0) await table(context, runs, total);
  requireListed(inventory);
  if (!options.json && total === 0) await terminal.err(await emptyListNote(inventory, "runs"));
  return 0;
}

async function table({ terminal, clock }: Context, runs: readonly RunSummary[], total: number): Promise<void> {
  const shown = { columns: terminal.columns, style: styleFor(terminal), now: clock.now() };
  await terminal.out(`${runTable(runs, shown).join("\n")}\n`);
  if (total > runs.length) await terminal.err(`${total - runs.length} more; --limit ${total} lists all\n`);
}

async function show({ terminal, bridge, environment }: Context, options: Values, name: string): Promise<ExitCode> {
  const { summary } = await requireRun(bridge.runs(environment(options.home)), name);
  if (options.json) await printJson(terminal, summary);
  else await terminal.out(`${fieldLines(summary).join("\n")}\n`);
  return 0;
}

async function log(context: Context, options: Values, name: string): Promise<ExitCode> {
  const { terminal, bridge, environment } = context;
  const inventory = bridge.runs(environment(options.home));
  const { summary } = await requireRun(inventory, name);
  for await (const text of logParts(inventory, summary.name, 0)) await print(context, text);
  if (!summary.hasLog) await terminal.err(LOST);
  return 0;
}

async function tail(context: Context, options: Values, asked: string): Promise<ExitCode> {
  const { terminal, bridge, environment, untilInterrupted } = context;
  const ours = environment(options.home);
  const inventory = bridge.runs(ours);
  const { summary } = await requireRun(inventory, asked);
  const { text, next } = await logEnd(inventory, summary.name, options.lines ?? LINES);
  await print(context, text);
  if (!summary.hasLog) await terminal.err(LOST);
  if (!options.follow) return 0;
  // Nothing that follows a log keeps the process alive.
  const alive = setInterval(() => {}, 60_000);
  try {
    const { timer } = bridge;
    for await (const part of followedLog(inventory, summary.name, next, timer, untilInterrupted())) {
      await print(context, part);
    }
  } finally {
    clearInterval(alive);
  }
  return 0;
}

/** A log holds foreign text: on a terminal none of it may act. */
async function print({ terminal }: Context, text: string): Promise<void> {
  await terminal.out(terminal.columns === undefined ? text : printable(text));
}

function required(verb: string, name: string | undefined): string {
  if (name === undefined || name === "")
    throw new Failure("usage", `runs ${verb} needs the name of a run; see agent-bridge runs`);
  return name;
}
