import type { Clock } from "../platform/clock.ts";
import type { Timer } from "../platform/timer.ts";
import type { SessionId } from "../transcript/names.ts";
import type { AcpConnection, AcpHandlers, AcpOpening, AcpStreams } from "./acp/connection.ts";
import type { Child, ChildCommand } from "./child.ts";
import type { SessionEvent } from "./event.ts";
import type { Output } from "./output.ts";
import type { Recording } from "./recording.ts";
import type { Permit, SessionDescriptor } from "./sessions.ts";
import type { PromptLog, PromptLogging } from "./turn.ts";

/** What an agent session is to be. */
export interface AgentSessionSpec {
  readonly id: SessionId;
  readonly agent: string;
  readonly command: ChildCommand;
  readonly cwd: string;
  readonly name?: string | undefined;
  readonly model?: string | undefined;
  readonly permit: Permit;
  /** The session of the agent's to go on with. */
  readonly resume?: string | undefined;
  readonly restartedFrom?: SessionId | undefined;
}

/** What an agent session is made with. */
export interface AgentSessionTools {
  readonly clock: Clock;
  readonly timer: Timer;
  /** The program's version. */
  readonly version: string;
  /** Starts the agent of the session `id`. @throws Failure */
  start(command: ChildCommand, id: SessionId): Promise<Child>;
  connect(streams: AcpStreams, handlers: AcpHandlers, opening: AcpOpening): Promise<AcpConnection>;
  /** The recording of the session, which may be there already. */
  record(id: SessionId): Promise<Recording>;
  output(): Output;
  /** What of an event a terminal shows; of the session `id`, in order. */
  shown(id: SessionId): (event: SessionEvent) => string;
  /** A prompt begins in `session`. */
  logPrompt(session: SessionDescriptor, prompt: string, how: PromptLogging): PromptLog;
  /** The session says something else of itself. */
  changed(): void;
  /** Something went wrong that is no reason to end the session. */
  trouble(what: string): void;
}
