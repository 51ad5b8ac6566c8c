import { existsSync } from "node:fs";
import { join } from "node:path";
import { openAcp } from "../agents/acp/open.ts";
import { agentCommand } from "../agents/agent-command.ts";
import { childVariables } from "../agents/child-variables.ts";
import type { SessionEvent } from "../agents/event.ts";
import { createOutput } from "../agents/output.ts";
import { ProcessTable } from "../agents/process-table.ts";
import { endLeftover } from "../agents/process-tree.ts";
import { checkProgram, startProgram } from "../agents/program.ts";
import { logPrompt } from "../agents/prompt-log.ts";
import type { RecordingFiles } from "../agents/recorder/file.ts";
import { openRecording } from "../agents/recorder/open.ts";
import type { Loss } from "../agents/recording.ts";
import { type RecoveryParts, recoverSessions } from "../agents/recover.ts";
import { describeSaved } from "../agents/saved.ts";
import { interruptJob, jobSessionOf } from "../agents/session-job.ts";
import { createEventText } from "../agents/show-event.ts";
import { startChild } from "../agents/start-child.ts";
import { Supervisor } from "../agents/supervisor.ts";
import type { OwnSessions } from "../peers/own-sessions.ts";
import { SESSIONS_FILE } from "../peers/own-sessions-file.ts";
import type { Clock } from "../platform/clock.ts";
import type { AgentCommand } from "../platform/config.ts";
import type { Environment } from "../platform/environment.ts";
import { errorText } from "../platform/failure.ts";
import type { LockWait } from "../platform/lock.ts";
import { ourIdentity } from "../platform/process-identity.ts";
import type { Timer } from "../platform/timer.ts";
import type { Watcher } from "../platform/watch.ts";
import { ownRecordings } from "../stores/recorded/roots.ts";
import { type SessionId, sessionIdOf } from "../transcript/names.ts";
import { counted } from "./stores.ts";

/** What sessions are driven with. */
export interface SessionsParts {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly timer: Timer;
  /** The program's version. */
  readonly version: string;
  /** `agents` in `config.json`. */
  readonly agents: ReadonlyMap<string, AgentCommand>;
  readonly own: OwnSessions;
  /** Whether a live session that is driven elsewhere has the name. */
  isNameTaken(name: string): Promise<boolean>;
  /** How long what is kept of sessions may take to be written in the end: ms. */
  readonly patienceMs?: number;
  /** Tells of what other processes save, where someone follows that. */
  readonly watcher?: Watcher;
  /** Tells what the user should know, without contents. */
  warn(message: string): void;
  /** How recordings are written; what is left out is the machine's. */
  readonly files?: RecordingFiles;
  /** Told of everything that happens in agent sessions, as it happens. */
  happened?(id: SessionId, event: SessionEvent): void;
}

/** Sessions that this process drives, of real agents and programs. */
export function supervisorOf(parts: SessionsParts): Supervisor {
  const { environment, clock, timer, version, agents, own, isNameTaken, watcher, warn } = parts;
  const { bridgeHome } = environment;
  const table = new ProcessTable();
  const fault = (error: unknown): void => warn(`a run could not be written: ${errorText(error)}`);
  return new Supervisor({
    saved: own,
    owner: ourIdentity(),
    agents: {
      clock,
      timer,
      version,
      start: (command, id) => startChild(command, { mark: id, table }),
      connect: (streams, handlers, opening) => openAcp(streams, handlers, opening, { timer }),
      record: (id) => recordingOf(parts, id),
      output: createOutput,
      shown: (id) => {
        const text = createEventText();
        return (event) => {
          parts.happened?.(id, event);
          return text.show(event);
        };
      },
      logPrompt: (session, prompt, how) =>
        logPrompt({ bridgeHome, clock, timer, wait: OWN_WAIT, fault }, session, prompt, how),
    },
    programs: {
      clock,
      output: createOutput,
      check: ({ argv, cwd }) => checkProgram({ argv, cwd, env: childVariables(environment.variables()) }),
      start: ({ id, kind, argv, cwd, columns, rows }, output) => {
        const env = childVariables(environment.variables());
        return startProgram({ kind, argv, cwd, columns, rows, env, output, mark: id, table });
      },
    },
    findAgent: (name, { cwd, permit }) => {
      const { agent, command, args, env, asking } = agentCommand(name, { agents, environment });
      // What the user has set goes before what we would.
      const inherited = { ...(permit === "allow" ? {} : asking), ...environment.variables() };
      return { agent, command: { command, args, cwd, env: childVariables(inherited, env) } };
    },
    isNameTaken,
    ...(parts.patienceMs !== undefined && { patienceMs: parts.patienceMs }),
    ...(watcher !== undefined && {
      othersChange: (signal) => watcher.file(join(bridgeHome, SESSIONS_FILE), signal),
    }),
    isRecorded: (id) => sessionIdOf(id) !== undefined && existsSync(join(ownRecordings(environment), id)),
    warn,
  });
}

/** Puts in order what processes that are gone have left: see `recoverSessions`. */
export async function recoverOf(parts: SessionsParts): Promise<void> {
  const { environment, clock, own, warn } = parts;
  const table = new ProcessTable();
  const recovery: RecoveryParts = {
    saved: own,
    clock,
    endLeftover: (child, id) => endLeftover(child, id, { graceMs: LEFTOVER_MS, table }),
    interruptJob: async (saved, how) => {
      const session = describeSaved(saved);
      if (session === undefined) return;
      const tools = { bridgeHome: environment.bridgeHome, clock };
      await interruptJob(tools, jobSessionOf(session), how);
    },
    recordings: ownRecordings(environment),
    record: (id) => recordingOf(parts, id),
    warn,
  };
  await recoverSessions(recovery);
}

/** Many may write at once, and nobody waits for what is written beside a turn. */
export const OWN_WAIT: LockWait = { waitMs: 30_000 };

/** How long what a dead server has left may take to end politely: ms. */
const LEFTOVER_MS = 1_500;

function recordingOf({ environment, clock, timer, warn, files }: SessionsParts, sessionId: SessionId) {
  return openRecording({
    folder: ownRecordings(environment),
    sessionId,
    clock,
    timer,
    ...(files !== undefined && { files }),
    late: (loss) => warn(`${records(loss)} of the session ${sessionId} could not be written yet (${loss.why})`),
    lost: (loss) => warn(`${records(loss)} of the session ${sessionId} could not be recorded (${loss.why})`),
  });
}

function records({ records }: Loss): string {
  return counted(records, "record");
}
