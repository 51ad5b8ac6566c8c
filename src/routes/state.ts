import { type Route, route } from "../server/route.ts";
import type { StoreStanding } from "../stores/inventory.ts";
import type { Store } from "../stores/store.ts";
import type { RouteContext } from "./context.ts";
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
    skipped: { ...COUNT, description: "Things in the store that could not be shown; `agent-bridge doctor` says why." },
  },
  { problem: { ...TEXT, description: "Why its last list failed; what it listed before is still shown." } },
);

/** What the server knows, in one answer. */
export function stateRoute({ inventory, stores, version, pid, bootNonce }: RouteContext): Route {
  return route({
    method: "GET",
    pattern: "/api/state",
    summary: "The server, its peers, the newest runs and the stores",
    query: {},
    answer: object({
      version: TEXT,
      pid: COUNT,
      peers: list({ type: "object" }),
      runs: list({ type: "object" }, 50),
      runsNext: orNull(TEXT),
      runsTotal: COUNT,
      running: list({ type: "object" }),
      jobs: { type: "object", description: "The jobs of the runs listed, by name." },
      stores: list(STORE_STATE),
    }),
    access: "key",
    handle: async () => {
      await inventory.settled();
      const generation = String(inventory.generation);
      const standings = await Promise.all((await inventory.standings()).map((standing) => stateOf(standing, stores)));
      return {
        kind: "json",
        body: {
          version,
          pid,
          peers: [],
          runs: [],
          runsNext: null,
          runsTotal: 0,
          running: [],
          jobs: {},
          stores: standings,
        },
        validity: { facts: [generation, bootNonce, JSON.stringify(standings)], uses: [], settled: true },
      };
    },
  });
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
