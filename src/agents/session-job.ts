import type { EpochMs } from "../platform/clock.ts";
import type { JsonObject } from "../platform/read.ts";
import { endInterruptedLogs } from "../runs/interrupted.ts";
import { changeJob, type JobStoreTools } from "../runs/job-store.ts";
import { agentNameOf } from "../transcript/names.ts";
import type { Permit, SessionDescriptor } from "./sessions.ts";

/** The session that a job is. */
export interface JobSession {
  readonly id: string;
  readonly agent: string;
  readonly cwd: string;
  readonly model?: string | undefined;
  readonly name?: string | undefined;
  readonly permit: Permit;
  readonly startedAt: EpochMs;
  /** The id that its chat is found by: the agent's own, or the recording's where no store of the agent's is read. */
  readonly chat: string;
}

/** What of a session its job tells. */
export function jobSessionOf(session: SessionDescriptor): JobSession {
  const { id, agent = "agent", cwd, model, name, permit = "deny", startedAt, nativeSessionId } = session;
  // The agents whose own store is read, by the name of that store; of any other the recording is all there is.
  const chat = agentNameOf(agent) === undefined ? id : (nativeSessionId ?? id);
  return { id, agent, cwd, model, name, permit, startedAt, chat };
}

/** The 8 hex digits of a session's id, which are its job's too. */
export function jobId(sessionId: string): string {
  return sessionId.slice(-8);
}

/** The name of the job that a session is. */
export function jobName({ id, agent }: Pick<JobSession, "id" | "agent">): string {
  return `${runAgent(agent)}-job-${jobId(id)}`;
}

/** What runs call an agent. Names of agents in `config.json` may hold more than the name of a file can. */
export function runAgent(agent: string): string {
  const plain = agent.replace(/[^\w.-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "");
  return plain === "" ? "agent" : plain.slice(0, AGENT_CHARACTERS);
}

/** The stamp, the digits and this make no name that is too long for a run. */
const AGENT_CHARACTERS = 64;

/** Saves the job of a session, with `changes`. @throws Failure failed · the system's error */
export async function saveJob(tools: JobStoreTools, session: JobSession, changes: JsonObject): Promise<void> {
  await changeJob(tools, jobName(session), () => ({ ...fieldsOf(session), ...changes }));
}

/**
 * Says of the job of a session whose driver is gone that it was interrupted, and at the end of its logs: also of a run that
 * was only just beginning, and tells of no process yet. `inTurn`: the recording says that a turn was running; else only a
 * job that is still told as running is touched. @throws Failure failed · the system's error
 */
export async function interruptJob(
  tools: JobStoreTools,
  session: JobSession,
  { at, inTurn }: { readonly at: EpochMs; readonly inTurn: boolean },
): Promise<void> {
  const job = jobName(session);
  await endInterruptedLogs(tools, { job, recording: session.id, since: session.startedAt });
  await changeJob(tools, job, (before) => {
    if (!inTurn && (before?.status !== "running" || before.recording !== session.id)) return undefined;
    const known = before ?? { ...fieldsOf(session), prompt: "", args: { title: session.name ?? "" } };
    return { ...known, status: "interrupted", finishedAt: at, host: null };
  });
}

function fieldsOf({ id, agent, model, startedAt, chat, cwd }: JobSession): JsonObject {
  return {
    id: jobId(id),
    agent: runAgent(agent),
    model: model ?? null,
    startedAt,
    sessionId: chat,
    recording: id,
    workdir: cwd,
    worktree: null,
  };
}
