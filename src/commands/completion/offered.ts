import { knownAgents } from "../../agents/agent-command.ts";
import type { SavedSession } from "../../peers/own-sessions.ts";
import type { Environment } from "../../platform/environment.ts";
import { isAlive } from "../../platform/process-identity.ts";
import { within } from "../../platform/timer.ts";
import { savedSessions } from "../../routes/saved-sessions.ts";
import type { Listed } from "../../stores/store.ts";
import { type AgentName, sessionIdOf } from "../../transcript/names.ts";
import type { Completes } from "../arguments.ts";
import type { Context } from "../command.ts";
import type { Candidate } from "./expected.ts";

/** So many are offered, the newest. */
const MOST_OFFERED = 200;
/** Nobody waits longer for a list at the press of a key: ms. */
const PATIENCE_MS = 1_500;

/** What there is on this machine of what may stand in a word that begins with `typed`, newest first. @throws as the parts do */
export async function offered(
  context: Pick<Context, "bridge" | "clock">,
  environment: Environment,
  what: Exclude<Completes, readonly string[] | "file" | "folder">,
  typed: string,
): Promise<readonly Candidate[]> {
  const { bridge } = context;
  const begin = (all: readonly Candidate[]): readonly Candidate[] =>
    all.filter(({ value }) => value.startsWith(typed)).slice(0, MOST_OFFERED);
  switch (what) {
    case "agent":
      return begin(await agents(context, environment));
    case "run":
      return begin((await bridge.runs(environment).names()).map((value) => ({ value, about: "" })));
    case "job":
      return begin((await bridge.runs(environment).jobs()).map(({ name }) => ({ value: name, about: "" })));
    case "peer":
      return begin(joined(context, environment));
    case "own session":
      return begin(ours(context, environment, () => true));
    case "recording": {
      const recorded = await recordedIds(context, environment);
      return begin([
        ...ours(context, environment, ({ id }) => recorded.has(id)),
        ...(await stored(context, environment, typed, "daemon")),
      ]);
    }
    case "session": {
      const named = [...ours(context, environment, ({ kind }) => kind === "agent"), ...joined(context, environment)];
      return begin([...named, ...(await stored(context, environment, typed))]);
    }
  }
}

async function agents({ bridge }: Pick<Context, "bridge">, environment: Environment): Promise<readonly Candidate[]> {
  const { agents } = await bridge.histories(environment);
  return knownAgents({ agents, environment }).map(({ name, isInstalled }) => ({
    value: name,
    about: isInstalled ? "" : "not installed",
  }));
}

function ours(
  { bridge }: Pick<Context, "bridge">,
  environment: Environment,
  which: (session: SavedSession) => boolean,
): readonly Candidate[] {
  const sessions = savedSessions(bridge.ownSessions(environment)).filter(which);
  return [...sessions]
    .sort((a, b) => b.startedAt - a.startedAt)
    .flatMap(({ id, name, kind, agent, cwd }) => {
      const about = `${agent ?? kind} in ${cwd}`;
      return [...(name === undefined ? [] : [{ value: name, about }]), { value: id, about: name ?? about }];
    });
}

function joined({ bridge }: Pick<Context, "bridge">, environment: Environment): readonly Candidate[] {
  const live = bridge
    .ownSessions(environment)
    .read()
    .peers.filter(({ process }) => isAlive(process));
  return live.map(({ name, agent, cwd }) => ({ value: name, about: `${agent} in ${cwd}` }));
}

/** The ids of those of our sessions that something was recorded of. */
async function recordedIds(
  { bridge }: Pick<Context, "bridge">,
  environment: Environment,
): Promise<ReadonlySet<string>> {
  const { stores } = await bridge.histories(environment);
  const store = stores.find(({ agent }) => agent === "daemon");
  const ids = savedSessions(bridge.ownSessions(environment)).flatMap(({ id }) => sessionIdOf(id) ?? []);
  const found = await Promise.all(ids.map(async (id) => ((await store?.find(id)) === undefined ? [] : [id])));
  return new Set(found.flat());
}

/** The newest sessions of the stores that answer in time, by id; by agent and id once an agent is typed. */
async function stored(
  { bridge }: Pick<Context, "bridge">,
  environment: Environment,
  typed: string,
  only?: AgentName,
): Promise<readonly Candidate[]> {
  const { stores } = await bridge.histories(environment);
  const rows: Listed[] = [];
  const start = typed.slice(typed.indexOf("/") + 1);
  const listing = stores.map(async (store) => {
    if (only !== undefined && store.agent !== only) return;
    if (!`${store.agent}/`.startsWith(typed.slice(0, typed.indexOf("/") + 1))) return;
    const newest = store.newest?.(start, MOST_OFFERED) ?? store.list("sweep");
    rows.push(...(await newest.catch(() => [])));
  });
  await within(bridge.timer, PATIENCE_MS, Promise.all(listing));
  const value = ({ agent, id }: Listed): string => (typed.includes("/") ? `${agent}/${id}` : id);
  return rows
    .filter((row) => row.parent === undefined && value(row).startsWith(typed))
    .sort((a, b) => b.updatedAt - a.updatedAt)
    .map((row) => ({ value: value(row), about: row.title }));
}
