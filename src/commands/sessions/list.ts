import { describeSaved } from "../../agents/saved.ts";
import { callServer } from "../../client/api.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { Failure } from "../../platform/failure.ts";
import { asArray, asNumber, asObject, asText } from "../../platform/read.ts";
import { SessionList } from "../../routes/session-list.ts";
import { RUN_LIMIT } from "../../runs/page.ts";
import { printableLine } from "../../transcript/printable.ts";
import type { OptionValues } from "../arguments.ts";
import type { Context, ExitCode } from "../command.ts";
import { printJson } from "../print.ts";
import { withProgress } from "../progress.ts";
import { runningServer } from "../server-of.ts";
import { shortPath } from "../stores.ts";
import { styleFor } from "../style.ts";
import { type Column, tableLines } from "../table.ts";
import { ago } from "../when.ts";
import type { OPTIONS } from "./sessions.ts";
import { goesOn, type ShownSession, shownSession } from "./shown.ts";

type Values = OptionValues<typeof OPTIONS>;

interface Page {
  readonly sessions: readonly unknown[];
  readonly next: string | null;
  readonly total: number;
}

/** `sessions ls`: the sessions of the server, or, where none runs, what is known of those that were. */
export async function list(context: Context, options: Values, words: readonly string[]): Promise<ExitCode> {
  const { terminal } = context;
  if (words[0] !== undefined) throw new Failure("usage", `sessions ls does not take "${words[0]}"`);
  const page = await withProgress(terminal, "Reading the sessions", () => pageOf(context, options));
  if (options.json) {
    await printJson(terminal, page);
    return 0;
  }
  const shown = page.sessions.map(shownSession);
  if (shown.length > 0) await terminal.out(`${table(context, shown).join("\n")}\n`);
  const rest = page.total - shown.length;
  if (page.total === 0) await terminal.err("There are no such sessions.\n");
  else if (rest > 0) await terminal.err(`${rest} more; --limit ${Math.min(page.total, 500)} lists more\n`);
  return 0;
}

async function pageOf(context: Context, options: Values): Promise<Page> {
  const server = await runningServer(context, options.home);
  if (server === undefined) return pageWithoutServer(context, options);
  const { kind, live, limit } = options;
  const query = [
    ...(kind === undefined ? [] : [`kind=${kind}`]),
    ...(live ? ["state=live"] : []),
    ...(limit === undefined ? [] : [`limit=${limit}`]),
  ];
  const answer = asObject(
    await callServer(server, "GET", `/api/sessions${query.length > 0 ? "?" : ""}${query.join("&")}`),
  );
  const sessions = asArray(answer?.sessions);
  if (answer === undefined || sessions === undefined) {
    throw new Failure("failed", "the server's answer is no list: is it of another version? restart it");
  }
  return { sessions, next: asText(answer.next) ?? null, total: asNumber(answer.total) ?? sessions.length };
}

async function pageWithoutServer({ bridge, environment }: Context, options: Values): Promise<Page> {
  const ours = environment(options.home);
  const { inventory } = await bridge.histories(ours);
  const own = bridge.ownSessions(ours);
  const sessions = {
    list: async () =>
      own
        .read()
        .sessions.map(describeSaved)
        .filter((each) => each !== undefined),
  };
  const filter = { kind: options.kind, state: options.live ? ("live" as const) : undefined };
  return new SessionList({ sessions, inventory }).page(filter, undefined, options.limit ?? RUN_LIMIT);
}

function table({ terminal, clock, environment }: Context, sessions: readonly ShownSession[]): string[] {
  const style = styleFor(terminal);
  const now = clock.now();
  const live = new Set(sessions.filter(goesOn).map(({ status }) => status));
  const columns: readonly Column[] = [
    { heading: "ID", paint: style.cyan },
    { heading: "NAME", cut: "end", least: 6, goes: 3 },
    { heading: "WHAT", cut: "end", goes: 2 },
    { heading: "STATUS", paint: (text) => (live.has(text) ? style.green(text) : text) },
    { heading: "STARTED", cut: "end", goes: 4 },
    { heading: "FOLDER", cut: "start", least: 8, goes: 1, paint: style.dim },
  ];
  const rows = sessions.map(({ id, name, kind, agent, status, startedAt, cwd }) => [
    printableLine(id),
    printableLine(name ?? ""),
    printableLine(agent ?? kind),
    printableLine(status),
    startedAt === undefined ? "" : ago(startedAt as EpochMs, now),
    printableLine(shortPath(cwd, environment().home)),
  ]);
  return tableLines(columns, rows, terminal.columns);
}
