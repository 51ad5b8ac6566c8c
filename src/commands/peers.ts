import type { Peer } from "../peers/peer.ts";
import { PeerRegistry } from "../peers/registry.ts";
import type { EpochMs } from "../platform/clock.ts";
import type { Environment } from "../platform/environment.ts";
import { printableLine } from "../transcript/printable.ts";
import { type Context, command, home, json, NO_OPERANDS } from "./command.ts";
import { printJson } from "./print.ts";
import { withProgress } from "./progress.ts";
import { peersOf } from "./served-peers.ts";
import { runningServer } from "./server-of.ts";
import { shortPath } from "./stores.ts";
import { type Style, styleFor } from "./style.ts";
import { type Column, tableLines } from "./table.ts";
import { ago } from "./when.ts";

/** `peers`: who is live, under which name. */
export const peers = command({
  name: "peers",
  summary: "list live sessions by name",
  operands: NO_OPERANDS,
  options: { json: { ...json, help: "print them as the API does: {peers}" }, home },
  notes: [
    "Peers are agent sessions that agent-bridge runs, sessions that joined, and those whose agent's own files prove that they are open.",
    "Without a server the names of the last are made anew each time.",
  ],
  examples: [["peers", "who is there"]],
  async run(context, { options }) {
    const { terminal, environment, clock } = context;
    const ours = environment(options.home);
    const found = await withProgress(terminal, "Looking", () => livePeers(context, ours, options.home));
    if (options.json) await printJson(terminal, { peers: found });
    else if (found.length === 0) await terminal.err("Nobody is live.\n");
    else {
      const shown = { columns: terminal.columns, style: styleFor(terminal), now: clock.now(), userHome: ours.home };
      await terminal.out(`${peerTable(found, shown).join("\n")}\n`);
    }
    return 0;
  },
});

/** As the running server knows them; without one, as our own file and the stores tell. */
async function livePeers(
  context: Context,
  environment: Environment,
  given: string | undefined,
): Promise<readonly Peer[]> {
  const server = await runningServer(context, given);
  if (server !== undefined) return peersOf(server);
  const { bridge, clock, terminal, program } = context;
  const { stores, inventory, tools } = await bridge.histories(environment);
  const own = bridge.ownSessions(environment);
  const { problem } = own.read();
  if (problem !== undefined) await terminal.err(`${program.said(problem)}; see agent-bridge doctor\n`);
  await inventory.settled();
  const registry = new PeerRegistry({
    ...{ own, stores, clock, timer: tools.timer },
    titleOf: (agent, id) => inventory.row(agent, id)?.title,
  });
  return registry.list();
}

interface Shown {
  readonly columns: number | undefined;
  readonly style: Style;
  readonly now: EpochMs;
  readonly userHome: string;
}

function peerTable(found: readonly Peer[], { columns, style, now, userHome }: Shown): string[] {
  const shape: readonly Column[] = [
    { heading: "NAME", cut: "end", least: 12, paint: style.cyan },
    { heading: "AGENT", cut: "end", goes: 3 },
    { heading: "STARTED", cut: "end", goes: 2 },
    { heading: "DOES", cut: "end", goes: 4 },
    { heading: "FOLDER", cut: "start", least: 8, goes: 1, paint: style.dim },
    { heading: "TITLE", cut: "end", least: 10 },
  ];
  const rows = found.map(({ name, agent, startedAt, activity = "", cwd, title = "" }) => [
    ...[name, agent, ago(startedAt, now), activity, shortPath(cwd, userHome), title].map(printableLine),
  ]);
  return tableLines(shape, rows, columns);
}
