import type { EpochMs } from "../platform/clock.ts";
import { absolute } from "../platform/environment.ts";
import { Failure } from "../platform/failure.ts";
import { LIST_LIMIT } from "../stores/list-query.ts";
import type { Listed } from "../stores/store.ts";
import { AGENT_NAMES, type AgentName, agentNameOf } from "../transcript/names.ts";
import { printable, printableLine } from "../transcript/printable.ts";
import { flag, text, type Valued, wholeNumber } from "./arguments.ts";
import { command, home, json, NO_OPERANDS } from "./command.ts";
import { printJson } from "./print.ts";
import { withProgress } from "./progress.ts";
import { type Style, styleFor } from "./style.ts";
import { type Column, tableLines } from "./table.ts";
import { ago } from "./when.ts";

/** Letters of an id that are shown on a terminal, where they tell the sessions apart. */
const SHORT_ID = 8;

const agent: Valued<AgentName> = {
  kind: "value",
  placeholder: "NAME",
  completes: AGENT_NAMES,
  help: `only sessions of this agent: ${AGENT_NAMES.join(", ")}`,
  read(given, option) {
    const name = agentNameOf(given);
    if (name === undefined)
      throw new Failure("usage", `${option} takes one of ${AGENT_NAMES.join(", ")}, not "${given}"`);
    return name;
  },
};

/** `ls`: which sessions there are. */
export const ls = command({
  name: "ls",
  summary: "list sessions, newest first",
  operands: NO_OPERANDS,
  options: {
    agent,
    project: { ...text("DIR", "only sessions that started in this folder or below it"), completes: "folder" } as const,
    q: text("TEXT", "only sessions with this text in title or folder"),
    live: flag("only sessions that a process has open now"),
    children: flag("list subagents too that are sessions of their own (not Claude Code's)"),
    limit: wholeNumber("N", `at most so many (${LIST_LIMIT})`, [1, 1_000_000]),
    json: { ...json, help: "print them as the API does: {transcripts, total}" },
    home,
  },
  notes: ["On a terminal the table is cut to its width; show takes the short ids. Elsewhere nothing is cut."],
  examples: [
    ["ls --project . --limit 5", "the latest of this project"],
    ["ls --live", "who is at work"],
    ["ls --json | jq -r '.transcripts[].cwd' | sort -u", "every folder with sessions"],
  ],
  async run({ terminal, bridge, environment, clock, program }, { options }) {
    const { inventory } = await bridge.histories(environment(options.home));
    await withProgress(terminal, "Reading the sessions", () => inventory.settled());
    const { agent, project, q, live, children, limit = LIST_LIMIT } = options;
    const state = live ? ("live" as const) : undefined;
    const query = { agent, q, state, children, limit, project: project === undefined ? undefined : absolute(project) };
    const { transcripts, total } = await inventory.query(query);
    const broken = (await inventory.standings()).filter(({ problem }) => problem !== undefined);
    for (const { agent, problem } of broken) await terminal.err(`${agent}: ${problem}\n`);
    const exitCode = broken.length === 0 ? 0 : 1;
    if (options.json) {
      await printJson(terminal, { transcripts, total });
      return exitCode;
    }
    const { transcripts: all } = await inventory.query({ children: true, limit: Number.POSITIVE_INFINITY });
    if (transcripts.length > 0) {
      const shown = { all, terminal, style: styleFor(terminal), now: clock.now(), userHome: environment().home };
      await terminal.out(`${sessionTable(transcripts, shown).join("\n")}\n`);
    }
    const rest = total - transcripts.length;
    if (total === 0)
      await terminal.err(all.length === 0 ? program.said(NO_SESSIONS) : noMatch({ ...query, live }, all, children));
    else if (rest > 0) await terminal.err(`${rest} more; --limit ${total} lists all\n`);
    return exitCode;
  },
});

const NO_SESSIONS = "There are no sessions; agent-bridge doctor says where they are looked for.\n";

/** Why none of the sessions that there are is listed, in the words of the filters. */
function noMatch(
  {
    agent,
    q,
    project,
    live,
  }: { readonly [name in "agent" | "q" | "project"]?: string | undefined } & { live: boolean },
  all: readonly Listed[],
  children: boolean,
): string {
  const wanted = [
    agent === undefined ? "" : ` of ${agent}`,
    project === undefined ? "" : ` in ${printable(project)} or below`,
    q === undefined ? "" : ` with "${printableLine(q)}" in title or folder`,
    live ? " that a process has open now" : "",
  ].join("");
  const hint = children ? "" : "; --children lists subagents' sessions too";
  return `No session${wanted}, of ${all.length}${hint}.\n`;
}

interface Shown {
  /** Every session there is: short ids must tell them apart. */
  readonly all: readonly Listed[];
  readonly terminal: { readonly columns: number | undefined };
  readonly style: Style;
  readonly now: EpochMs;
  readonly userHome: string;
}

function sessionTable(transcripts: readonly Listed[], { all, terminal, style, now, userHome }: Shown): string[] {
  const columns: readonly Column[] = [
    { heading: "ID", paint: style.cyan },
    { heading: "AGENT", cut: "end", goes: 2 },
    { heading: "UPDATED", cut: "end", goes: 3, paint: (text) => (isLive(text) ? style.green(text) : text) },
    { heading: "FOLDER", cut: "start", least: 8, goes: 1, paint: style.dim },
    { heading: "TITLE", cut: "end", least: 10 },
  ];
  const length = terminal.columns === undefined ? Number.POSITIVE_INFINITY : shortIdLength(all);
  const rows = transcripts.map((listed) => [
    listed.id.slice(0, length),
    listed.agent,
    listed.live === undefined ? ago(listed.updatedAt, now) : `${LIVE}${activity(listed.live.activity)}`,
    printableLine(shortFolder(listed.cwd, userHome)),
    (listed.parent === undefined ? "" : "↳ ") + printableLine(listed.title),
  ]);
  return tableLines(columns, rows, terminal.columns);
}

const LIVE = "live";

function isLive(text: string): boolean {
  return text.startsWith(LIVE);
}

function activity(activity: string | undefined): string {
  return activity === undefined ? "" : `, ${printableLine(activity)}`;
}

/** The least number of letters, from eight on, with which no two ids begin alike. */
function shortIdLength(all: readonly Listed[]): number {
  const ids = [...new Set(all.map(({ id }) => id as string))].sort();
  let length = SHORT_ID;
  for (const [index, id] of ids.entries()) {
    const next = ids[index + 1] ?? "";
    while (length < id.length && next.startsWith(id.slice(0, length))) length++;
  }
  return length;
}

function shortFolder(folder: string, userHome: string): string {
  if (folder === userHome) return "~";
  return folder.startsWith(`${userHome}/`) ? `~${folder.slice(userHome.length)}` : folder;
}
