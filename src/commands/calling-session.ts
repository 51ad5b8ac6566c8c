import { ancestorsOf, type ListedProcess } from "../platform/ancestors.ts";
import { absolute, type Environment } from "../platform/environment.ts";
import { Failure } from "../platform/failure.ts";
import { startOf } from "../platform/process-identity.ts";
import type { Store } from "../stores/store.ts";
import { type AgentName, type SessionId, sessionIdOf } from "../transcript/names.ts";
import { printableLine } from "../transcript/printable.ts";
import type { Histories } from "./bridge.ts";
import { callingSessions, type FoundSession } from "./calling-proof.ts";
import { certainProcess, likelyProcess } from "./cli-process.ts";
import type { Context } from "./command.ts";

/** The session whose shell tool or hook runs this process. */
export interface CallingSession {
  readonly agent: AgentName;
  readonly sessionId: SessionId;
  readonly cwd: string;
  /** Its CLI's process, and when that started. */
  readonly pid: number;
  readonly start?: string;
}

/** What finding it takes. */
export interface CallingTools {
  readonly environment: Environment;
  readonly histories: Histories;
  readonly now: number;
  /** The processes that this one descends from, its parent first. */
  readonly ancestors: readonly ListedProcess[];
  /** The words that a tool call's input must hold: this program's file name, and the command's name. */
  readonly words: readonly string[];
  /** The name of the tool that the session calls, where it is no shell tool. */
  readonly tool?: RegExp;
}

/** What a command has for it. */
export async function callingTools(context: Context, environment: Environment, verb: string): Promise<CallingTools> {
  const { bridge, clock, program } = context;
  const file = program.name.split(" ").at(-1) ?? program.name;
  return {
    environment,
    histories: await bridge.histories(environment),
    now: clock.now(),
    ancestors: ancestorsOf(bridge.thisProcess().pid),
    words: [file.replaceAll("'", ""), verb],
  };
}

/** The variables in which agents tell their shell tools which session they are. */
const VARIABLES: readonly (readonly [name: string, agent: AgentName])[] = [
  ["CLAUDE_CODE_SESSION_ID", "claude"],
  ["CODEX_THREAD_ID", "codex"],
];

/**
 * The session that runs this process: the one that its agent names in the environment, else the one whose newest records
 * hold a call of this very command that has no result yet. Where an agent was started inside another, the nearer one.
 * @throws Failure failed: none, or several that can't be told apart
 */
export async function callingSession(tools: CallingTools): Promise<CallingSession> {
  const named = await namedSessions(tools);
  const opencode = await openCodeNearer(tools, named);
  if (opencode !== undefined) return opencode;
  const nearest = nearestOf(named, tools.ancestors);
  if (nearest.length === 1 && nearest[0] !== undefined) return nearest[0];
  if (nearest.length > 1) throw several(nearest);
  return provenSession(tools, undefined);
}

/**
 * The session `id` of `agent`, with its process: the one above this process that is the agent's for certain; else the one
 * that the store proves to have the session open, for which all of the store must be looked through; else the likeliest.
 * @throws Failure failed: no process of it can be found
 */
export async function sessionCalled(
  { histories, environment, ancestors }: CallingTools,
  agent: AgentName,
  id: SessionId,
  cwd = absolute("."),
): Promise<CallingSession> {
  const told = agent === "opencode" ? Number(environment.variable("OPENCODE_PID")) : undefined;
  const certain = certainProcess(ancestors, agent, told)?.pid;
  const pid = certain ?? (await provenProcess(histories.stores, agent, id)) ?? likelyProcess(ancestors)?.pid;
  if (pid === undefined) throw new Failure("failed", "the session's process can't be found: run this from inside it");
  const start = startOf(pid);
  return { agent, sessionId: id, cwd, pid, ...(start !== undefined && { start }) };
}

async function namedSessions(tools: CallingTools): Promise<readonly CallingSession[]> {
  const named = VARIABLES.flatMap(([name, agent]) => {
    const id = sessionIdOf(tools.environment.variable(name));
    return id === undefined ? [] : [{ agent, id }];
  });
  return Promise.all(named.map(({ agent, id }) => sessionCalled(tools, agent, id)));
}

/** OpenCode's session, when OpenCode says that it runs this process and stands nearer than whoever else says so. */
async function openCodeNearer(
  tools: CallingTools,
  named: readonly CallingSession[],
): Promise<CallingSession | undefined> {
  const { environment, ancestors } = tools;
  if (environment.variable("OPENCODE") === undefined) return undefined;
  const place = (pid: number): number => placeAmong(ancestors, pid);
  const own = place(Number(environment.variable("OPENCODE_PID")));
  if (named.some(({ pid }) => place(pid) <= own)) return undefined;
  return provenSession(tools, "opencode");
}

function nearestOf(
  sessions: readonly CallingSession[],
  ancestors: readonly ListedProcess[],
): readonly CallingSession[] {
  const places = sessions.map(({ pid }) => placeAmong(ancestors, pid));
  const least = Math.min(...places);
  return sessions.filter((_, i) => places[i] === least);
}

function placeAmong(ancestors: readonly ListedProcess[], pid: number): number {
  const index = ancestors.findIndex((each) => each.pid === pid);
  return index < 0 ? Number.POSITIVE_INFINITY : index;
}

async function provenSession(tools: CallingTools, agent: AgentName | undefined): Promise<CallingSession> {
  const { histories, now, words, tool } = tools;
  const found = await callingSessions(histories, { agent, cwd: absolute("."), now, words, tool });
  const [only, ...others] = found;
  if (only === undefined) throw new Failure("failed", tool === undefined ? NONE : NONE_THAT_CALLS);
  if (others.length > 0) throw several(found);
  return sessionCalled(tools, only.agent, only.sessionId, only.cwd);
}

const NONE =
  "no session that runs this command was found: run it from a session's own shell tool, or set CLAUDE_CODE_SESSION_ID or CODEX_THREAD_ID to the session's id";

const NONE_THAT_CALLS =
  "which session this is can't be told: its agent does not say, and no call of this tool stands in its transcript yet; run agent-bridge join with the session's shell tool instead";

function several(found: readonly (FoundSession | CallingSession)[]): Failure {
  const listed = found.map(({ agent, sessionId, ...rest }) => {
    const title = "title" in rest && rest.title !== "" ? ` "${printableLine(rest.title)}"` : "";
    return `${agent}/${sessionId}${title}`;
  });
  return new Failure(
    "failed",
    `it may be any of these sessions: ${listed.join(", ")}; run it from one of them at a time`,
  );
}

async function provenProcess(stores: readonly Store[], agent: AgentName, id: SessionId): Promise<number | undefined> {
  const live = await stores.find((each) => each.agent === agent)?.live();
  return live?.find((proof) => proof.id === id)?.pid;
}
