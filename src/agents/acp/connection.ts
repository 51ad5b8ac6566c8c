import type { Failure } from "../../platform/failure.ts";
import type { PermissionOption, SessionEvent, UsageFigures } from "../event.ts";
import type { Permit } from "../sessions.ts";

/** The two ways to an agent: what it sends, and what it is sent. */
export interface AcpStreams {
  readonly input: AsyncIterable<Uint8Array>;
  /** Comes back when more may be written. Never fails. */
  write(line: string): Promise<void>;
}

/** An agent's question whether it may do something. */
export interface PermissionRequest {
  readonly toolCallId: string;
  readonly title?: string;
  /** What the call is given: JSON, cut where it is long. */
  readonly input?: string;
  readonly options: readonly PermissionOption[];
}

/** The answer to it: the option that was chosen, or that nobody will answer. */
export type PermissionAnswer = { readonly optionId: string } | "cancelled";

/** What an agent can ask and tell while it works. */
export interface AcpHandlers {
  /** What happened, in order. The agent is not read on before it comes back. */
  happened(event: SessionEvent): void | Promise<void>;
  /** The signal aborts when the turn is cancelled or the agent is gone: then nobody waits for the answer. */
  permission(request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer>;
  /** Something was passed over: a line that is no JSON-RPC, an update that says nothing, an answer to no question. */
  passedOver(what: string): void;
}

/** What an agent said of itself. */
export interface AcpAgent {
  readonly name?: string;
  readonly version?: string;
  /** It can go on with one of its sessions, by its id. */
  readonly resumes: boolean;
}

/** How a prompt's turn ended, as the agent said. */
export interface PromptEnd {
  /** ACP's: `end_turn`, `max_tokens`, `max_turn_requests`, `refusal`, `cancelled`. */
  readonly stopReason: string;
  readonly usage?: UsageFigures;
}

/** An agent that is spoken with over ACP: one connection, one session of its own. */
export interface AcpConnection {
  readonly agent: AcpAgent;
  /** The id of the session in the agent's own store. */
  readonly sessionId: string;
  /** The model that the session has, where the agent says. */
  readonly model?: string;
  /** @throws Failure failed: what the agent answered (the cause is an AgentError, with its code), or that it is gone */
  prompt(text: string): Promise<PromptEnd>;
  /** Asks the agent to end the turn; its answer to the prompt says when it has. */
  cancel(): void;
  /** When nothing more comes from the agent: it closed, or what it sent can't be read on. Never fails. */
  readonly closed: Promise<void>;
  /**
   * Answers nothing any more, and lets whoever waits for the agent fail with `why`. To be called when its process has ended:
   * another that it started may hold its output open.
   */
  close(why?: Failure): void;
}

/** What a connection is opened for. */
export interface AcpOpening {
  /** Also the one folder in which the agent reads and writes files through us. */
  readonly cwd: string;
  readonly model?: string;
  /** The session to go on with, where the agent can; else a new one begins. */
  readonly resume?: string;
  /** How the agent's questions will be answered: a mode is set in which it puts them, where it offers one. */
  readonly permit?: Permit;
  /** Our own version, which the agent is told. */
  readonly version: string;
  /** How long the agent may take to answer until its session is there: ms. */
  readonly patienceMs: number;
}
