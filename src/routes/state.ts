import type { KnownAgent } from "../agents/agent-command.ts";
import type { StartableAgents } from "../agents/startable.ts";
import type { Peers } from "../peers/peer.ts";
import { RUN_LIMIT } from "../runs/page.ts";
import { type Route, route } from "../server/route.ts";
import type { StoreStanding } from "../stores/inventory.ts";
import type { Store } from "../stores/store.ts";
import type { RouteContext } from "./context.ts";
import { PEER } from "./peers.ts";
import { JOBS, RUN } from "./run-schemas.ts";
import { AGENT, COUNT, list, object, orNull, TEXT } from "./schemas.ts";

/** A store in short, as `/api/state` says it. */
interface StoreState extends StoreStanding {
  readonly roots: readonly { readonly path: string; readonly found: boolean }[];
  /** Things that lie in the store and are not shown. */
  readonly skipped: number;
}

const STORE_STATE = object(
  {
    agent: AGENT,
    sessions: COUNT,
    roots: list(object({ path: TEXT, found: { type: "boolean" } })),
    skipped: { ...COUNT, description: "Things in the store that could not be shown; the command `doctor` says why." },
  },
  { problem: { ...TEXT, description: "Why its last list failed; what it listed before is still shown." } },
);

const STARTABLE = object(
  { name: { ...TEXT, description: "What `POST /api/sessions` takes as `agent`." }, installed: { type: "boolean" } },
  { remedy: { ...TEXT, description: "What to do where it is not installed: a phrase for a person." } },
);

/** What the state is made from: also who is live, and which agents can be started, where that is looked for. */
type StateContext = RouteContext & { readonly peers?: Pick<Peers, "list">; readonly startable?: StartableAgents };

/** What the server knows, in one answer. */
export function stateRoute(context: StateContext): Route {
  const { inventory, runs, stores, peers, startable, version, pid, bootNonce } = context;
  return route({
    method: "GET",
    pattern: "/api/state",
    summary: "The server, its peers, the newest runs and the stores",
    query: {},
    answer: object({
      version: TEXT,
      pid: COUNT,
      peers: list(PEER),
      runs: list(RUN, RUN_LIMIT),
      runsNext: { ...orNull(TEXT), description: "The `before` of `/api/runs` that goes on behind `runs`." },
      runsTotal: COUNT,
      running: { ...list(RUN), description: "Runs that are running and are not among `runs`." },
      jobs: JOBS,
      stores: list(STORE_STATE),
      agents: {
        ...list(STARTABLE),
        description: "The agents that can be asked for, also those that are not installed.",
      },
    }),
    conditional: true,
    access: "key",
    handle: async () => {
      await inventory.settled();
      const generation = String(inventory.generation);
      const standings = await Promise.all((await inventory.standings()).map((standing) => stateOf(standing, stores)));
      const { runs: newest, next: runsNext, total: runsTotal, running, jobs } = await runs.overview();
      const live = (await peers?.list()) ?? [];
      const agents = (startable?.list() ?? []).map(startableOf);
      const shown = { peers: live, runs: newest, runsNext, runsTotal, running, jobs, stores: standings, agents };
      return {
        kind: "json",
        body: { version, pid, ...shown },
        validity: { facts: [generation, bootNonce, JSON.stringify(shown)], uses: [], settled: true },
      };
    },
  });
}

function startableOf({ name, isInstalled, remedy }: KnownAgent): object {
  return { name, installed: isInstalled, ...(!isInstalled && { remedy }) };
}

async function stateOf(standing: StoreStanding, stores: readonly Store[]): Promise<StoreState> {
  const store = stores.find(({ agent }) => agent === standing.agent);
  const report = await store?.report().catch(() => undefined);
  if (report === undefined) return { problem: "its report could not be made", ...standing, roots: [], skipped: 0 };
  return {
    ...standing,
    roots: report.roots.map(({ path, found }) => ({ path, found })),
    skipped: report.skipped.reduce((sum, { count }) => sum + count, 0),
  };
}
