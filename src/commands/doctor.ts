import { existsSync } from "node:fs";
import { type Holder, holderOf } from "../client/holder.ts";
import type { OwnSessions, SavedSession } from "../peers/own-sessions.ts";
import type { Environment } from "../platform/environment.ts";
import { Failure } from "../platform/failure.ts";
import { isAlive } from "../platform/process-identity.ts";
import type { RunReport } from "../runs/report.ts";
import type { Store, StoreReport } from "../stores/store.ts";
import type { AgentName } from "../transcript/names.ts";
import { printable } from "../transcript/printable.ts";
import type { OwnFiles } from "./bridge.ts";
import { type Context, command, home, json, NO_OPERANDS } from "./command.ts";
import { printJson } from "./print.ts";
import { withProgress } from "./progress.ts";
import { PORT } from "./serve.ts";
import { counted, shortPath } from "./stores.ts";
import { type Style, styleFor } from "./style.ts";
import { pairLines } from "./table.ts";

/** What `doctor` finds; what `--json` prints. */
interface Findings {
  readonly version: string;
  readonly node: string;
  readonly platform: string;
  readonly own: OwnFiles;
  readonly server: {
    readonly running?: { readonly url: string; readonly pid: number };
    readonly port: number;
    readonly holder: Holder;
  };
  readonly stores: readonly StoreFindings[];
  readonly runs: RunReport;
  readonly sessions: SessionFindings;
  /** Variables that point nowhere, one sentence each. */
  readonly warnings: readonly string[];
  /** What is broken, one sentence each; empty when all is well. */
  readonly problems: readonly string[];
}

/** So many damaged files of a kind are named. */
const MOST_NAMED = 10;

/** A store's report, or why it gave none. */
type StoreFindings = StoreReport | { readonly agent: AgentName; readonly problem: string };

/** What `sessions.json` holds. */
interface SessionFindings {
  readonly sessions: number;
  /** Sessions that joined, and are live. */
  readonly joined: number;
  /** Entries that can't be read. */
  readonly problem?: string;
  /** Sessions that ended so long ago that they are no longer kept, so far. */
  readonly dropped?: number;
  /** Sessions of whose recording something could not be written. */
  readonly lost: readonly ({ readonly id: string } & NonNullable<SavedSession["lost"]>)[];
  /** Why the file can't be used. */
  readonly broken?: string;
}

/** `doctor`: where everything is looked for, what was found, and what is wrong. */
export const doctor = command({
  name: "doctor",
  summary: "what is read, what is left out, what is wrong",
  operands: NO_OPERANDS,
  options: { json, home },
  notes: [
    "It exits 1 when something is broken. That a store is not there, or some of its files can't be read, is not.",
  ],
  examples: [["doctor", "why is a session missing?"]],
  async run(context, { options }) {
    const ours = context.environment(options.home);
    const findings = await withProgress(context.terminal, "Looking", () => examine(context, ours));
    if (options.json) await printJson(context.terminal, findings);
    else await context.terminal.out(`${lines(findings, ours.home, styleFor(context.terminal)).join("\n")}\n`);
    return findings.problems.length === 0 ? 0 : 1;
  },
});

async function examine({ bridge, program }: Context, environment: Environment): Promise<Findings> {
  const own = bridge.ownFiles(environment);
  const running = await bridge.running(environment);
  const port = running?.port ?? own.config.port ?? PORT;
  const holder = running === undefined ? await holderOf(port) : "agent-bridge";
  const stores = own.config.problem === undefined ? (await bridge.histories(environment)).stores : [];
  const reports = await Promise.all(stores.map(reportOf));
  const broken = reports.flatMap((each) => ("problem" in each ? [`${each.agent}: ${each.problem}`] : []));
  const sessions = savedSessions(bridge.ownSessions(environment));
  // Nothing can be wrong in a folder that is none.
  const ours =
    own.home.problem === undefined ? [own.key.problem, own.config.problem, sessions.broken] : [own.home.problem];
  const problems = [...ours.filter((each) => each !== undefined), ...broken].map(program.said);
  return {
    version: program.version,
    node: process.versions.node,
    platform: environment.platform,
    own,
    server: { ...(running !== undefined && { running: { url: running.url, pid: running.pid } }), port, holder },
    stores: reports,
    runs: await bridge.runs(environment).report(),
    sessions,
    warnings: VARIABLES.flatMap((name) => pointsNowhere(environment, name) ?? []),
    problems,
  };
}

function savedSessions(own: OwnSessions): SessionFindings {
  try {
    const { sessions, peers, problem, dropped } = own.read();
    const lost = sessions.flatMap((session) => (session.lost ? [{ id: session.id, ...session.lost }] : []));
    const joined = peers.filter(({ process }) => isAlive(process)).length;
    const more = { ...(problem !== undefined && { problem }), ...(dropped !== undefined && { dropped }) };
    return { sessions: sessions.length, joined, lost, ...more };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { sessions: 0, joined: 0, lost: [], broken: error.message };
  }
}

/** The variables that name a folder in which an agent keeps its sessions. */
const VARIABLES = ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "CODEX_SQLITE_HOME", "HERMES_HOME", "AGENTPROTO_HOME"];

function pointsNowhere({ variable }: Environment, name: string): string | undefined {
  const value = variable(name);
  if (value === undefined || existsSync(value)) return undefined;
  return `${name} is set to ${value}, where there is nothing`;
}

async function reportOf(store: Store): Promise<StoreFindings> {
  try {
    // The report tells of what the last list met.
    await store.list("sweep");
    return await store.report();
  } catch (error) {
    const problem = error instanceof Failure ? error.message : `unexpected failure: ${error}`;
    return { agent: store.agent, problem };
  }
}

function lines(findings: Findings, userHome: string, style: Style): string[] {
  const { own, server, stores, runs, problems } = findings;
  const general = pairLines([
    ["agent-bridge", `${findings.version} on Node.js ${findings.node}, ${findings.platform}`],
    ["own files", shortPath(own.home.path, userHome) + homeNote(own.home)],
    ["key", own.home.problem === undefined ? keyState(own.key) : "none"],
    ["config.json", own.config.found ? "there" : "none; all is as it comes"],
    ["server", serverState(server)],
  ]);
  // Those of config.json have been told on stderr when it was read.
  const warnings = [...(own.home.warning === undefined ? [] : [own.home.warning]), ...findings.warnings].map(
    (text) => `${style.yellow("warning:")} ${printable(text)}`,
  );
  const found = stores.flatMap((store) => ["", ...storeState(store, userHome, style)]);
  const ran = ["", ...runState(runs, userHome, style), "", ...sessionState(findings.sessions, style)];
  const wrong = problems.map((problem) => `${style.red("broken:")} ${printable(problem)}`);
  const leavesOut =
    findings.sessions.problem !== undefined ||
    [runs, ...stores].some((each) => "skipped" in each && each.skipped.length > 0);
  const besides = [...(leavesOut ? ["left out"] : []), ...(findings.sessions.lost.length > 0 ? ["lost"] : [])];
  const right = `Nothing is broken${besides.length === 0 ? "" : ` besides what is ${besides.join(" or ")} above`}.`;
  return [...general, ...warnings, ...found, ...ran, "", ...(wrong.length === 0 ? [style.green(right)] : wrong)];
}

function homeNote({ found, problem }: OwnFiles["home"]): string {
  if (problem !== undefined) return " (can't be used)";
  return found ? "" : " (not there yet)";
}

function keyState({ found, problem }: OwnFiles["key"]): string {
  if (problem !== undefined) return found ? "there, and something is wrong with it" : "none that can be used";
  return found ? "there" : "none yet; serve or token makes one";
}

function serverState({ running, port, holder }: Findings["server"]): string {
  if (running !== undefined) return `runs at ${running.url} (process ${running.pid})`;
  switch (holder) {
    case "nobody":
      return `not running; port ${port} is free`;
    case "agent-bridge":
      return `not running; another agent-bridge has port ${port}, so serve takes a free one`;
    case "other":
    case "silent":
      return `not running; another program has port ${port}, so serve takes a free one`;
  }
}

/** Damaged files are named each: they stay as they are until someone sees to them. */
function runState({ runs, archived, recovered, jobs, skipped }: RunReport, userHome: string, style: Style): string[] {
  const counts = [`${counted(archived, "run")} archived`, `${recovered.toLocaleString("en")} recovered from jobs`];
  const rows = skipped.flatMap(({ reason, count, paths }) => {
    const named = paths.slice(0, MOST_NAMED).map((path) => ["", shortPath(path, userHome)] as const);
    const more = paths.length > MOST_NAMED ? [["", `… and ${count - MOST_NAMED} more`] as const] : [];
    return [["leaves out", `${count.toLocaleString("en")} × ${reason}`] as const, ...named, ...more];
  });
  const title = `${style.bold("runs")}  ${counted(runs, "run")} (${counts.join(", ")}), ${counted(jobs, "job")}`;
  return [title, ...pairLines(rows, 2)];
}

function sessionState({ sessions, joined, problem, dropped, lost }: SessionFindings, style: Style): string[] {
  const rows = lost
    .slice(0, MOST_NAMED)
    .map(({ id, records, why }) => ["lost", `${counted(records, "record")} of ${id}: ${printable(why)}`] as const);
  const more = lost.length > MOST_NAMED ? [["", `… and of ${lost.length - MOST_NAMED} more sessions`] as const] : [];
  const bad = problem === undefined ? [] : [["leaves out", problem] as const];
  const title = `${style.bold("sessions")}  ${counted(sessions, "session")} of our own, ${joined.toLocaleString("en")} joined`;
  const old = dropped === undefined ? [] : [["dropped", `${counted(dropped, "session")} that ended long ago`] as const];
  return [title, ...pairLines([...bad, ...old, ...rows, ...more], 2)];
}

function storeState(store: StoreFindings, userHome: string, style: Style): string[] {
  if ("problem" in store) return [style.bold(store.agent)];
  const formats = store.formats.length === 0 ? "" : `, written by ${store.formats.join(", ")}`;
  const roots = store.roots.map(({ path, found, note }) => {
    const noted = note === undefined ? "" : ` (${note})`;
    return [found ? "reads" : "no", printable(`${shortPath(path, userHome)}${noted}`)] as const;
  });
  const skipped = store.skipped.map(
    ({ reason, count, example }) =>
      [
        "leaves out",
        printable(`${count.toLocaleString("en")} × ${reason}, e.g. ${shortPath(example, userHome)}`),
      ] as const,
  );
  return [
    `${style.bold(store.agent)}  ${counted(store.sessions, "session")}${printable(formats)}`,
    ...pairLines([...roots, ...skipped], 2),
  ];
}
