import { openInBrowser } from "../client/browser.ts";
import { type Holder, holderOf } from "../client/holder.ts";
import type { Environment } from "../platform/environment.ts";
import { Failure } from "../platform/failure.ts";
import { aborted } from "../platform/timer.ts";
import { PortTaken } from "../server/listen.ts";
import type { ServerLog } from "../server/log.ts";
import { flag, wholeNumber } from "./arguments.ts";
import type { Bridge, Serving } from "./bridge.ts";
import { type Context, command, home, NO_OPERANDS } from "./command.ts";
import { HomeServed } from "./home-served.ts";
import { logTo } from "./log.ts";
import { inFull } from "./program.ts";
import { withProgress } from "./progress.ts";
import { OutputClosed } from "./reader-waits.ts";
import { storeLines } from "./stores.ts";
import { styleFor } from "./style.ts";
import { pairLines } from "./table.ts";

/** Where we serve when nothing else is said. */
export const PORT = 4777;

/** `serve`: the API and the page, until Ctrl-C. */
export const serve = command({
  name: "serve",
  summary: "serve the API and the page on 127.0.0.1, until Ctrl-C",
  operands: NO_OPERANDS,
  options: {
    port: wholeNumber("PORT", `listen there and nowhere else; 0 is any free port (${PORT})`, [0, 65_535]),
    home,
    open: flag("open the page in the browser"),
    "json-log": flag("log every request to stderr as a line of JSON"),
  },
  notes: [
    `Without --port it listens on ${PORT}, or on any free port when that is taken.`,
    "The link that it prints lets one browser in, once, within ten minutes; agent-bridge link prints another.",
  ],
  examples: [
    ["serve --open", "serve, and open the page"],
    ["serve --port 0", "on a port that is free"],
  ],
  async run(context, { options }) {
    const { bridge, environment, untilInterrupted } = context;
    const end = untilInterrupted();
    const ours = environment(options.home);
    const log = logTo(context, options["json-log"]);
    const serving = await openServer(bridge, ours, options.port, log);
    try {
      const link = await bridge.wayIn(ours, serving);
      if (options.open) openInBrowser(link, ours.platform, () => void context.terminal.err(NO_BROWSER));
      const usual = bridge.ownFiles(ours).config.port ?? PORT;
      const missed = options.port === undefined && usual !== 0 && serving.port !== usual ? usual : undefined;
      await introduce(context, serving, { link, ours, missed, end }).catch(unlessReaderGone);
      await aborted(end);
    } finally {
      await serving.close();
    }
    return 0;
  },
});

const NO_BROWSER = "No browser could be started; open the link above.\n";

/**
 * Starts serving on the port that was asked for, or on the usual one, or where that is taken on a free one.
 * @throws Failure that says who has the port, or where the server of this home is
 */
export async function openServer(
  bridge: Bridge,
  environment: Environment,
  asked: number | undefined,
  log: ServerLog,
): Promise<Serving> {
  const running = await bridge.running(environment);
  if (running !== undefined) throw new HomeServed(environment.bridgeHome, running);
  try {
    const { config } = bridge.ownFiles(environment);
    return await bridge.serve(environment, asked ?? config.port ?? PORT, log);
  } catch (error) {
    if (!(error instanceof PortTaken)) throw error;
    if (asked === undefined) return bridge.serve(environment, 0, log);
    throw new Failure("failed", `${takenBy(asked, await holderOf(asked))}; leave --port out for a free one`, error);
  }
}

function takenBy(port: number, holder: Holder): string {
  return holder === "agent-bridge"
    ? `port ${port} is taken by another agent-bridge, at http://127.0.0.1:${port}`
    : `port ${port} is taken by another program`;
}

/** A server whose first lines nobody reads any more (`| head -1`) serves all the same. */
function unlessReaderGone(error: unknown): void {
  if (!(error instanceof OutputClosed)) throw error;
}

/** What there is to say of a server besides where it is. */
interface Introduction {
  readonly link: string;
  /** Where our own files are. */
  readonly ours: Environment;
  /** The port that it would have, were it not taken. */
  readonly missed?: number | undefined;
  readonly end: AbortSignal;
}

/** Prints where the server is, how to get in, and what it has found. */
export async function introduce(
  context: Context,
  serving: Serving,
  { link, ours, missed, end }: Introduction,
): Promise<void> {
  const { terminal, program } = context;
  const style = styleFor(terminal);
  const ways = [
    ["page", style.bold(link)],
    ["API", `curl -b ab_ui=$(${inFull(program, "token", ours)}) ${serving.url}/api/state`],
  ] as const;
  const why = missed === undefined ? "" : ` (port ${missed} is taken)`;
  await terminal.out(
    `agent-bridge ${program.version} serves at ${serving.url}${why}\n\n${pairLines(ways, 2).join("\n")}\n\n`,
  );
  const reports = await withProgress(terminal, "Reading the sessions", () =>
    Promise.race([serving.reports(), aborted(end)]),
  );
  if (reports === undefined) return;
  await terminal.out(`${storeLines(reports, context.environment().home).join("\n")}\n\nCtrl-C ends it.\n`);
}
