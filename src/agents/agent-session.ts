import type { Clock, EpochMs } from "../platform/clock.ts";
import { Failure } from "../platform/failure.ts";
import type { ProcessIdentity } from "../platform/process-identity.ts";
import type { Timer } from "../platform/timer.ts";
import type { SessionId } from "../transcript/names.ts";
import type {
  AcpConnection,
  AcpHandlers,
  AcpOpening,
  AcpStreams,
  PermissionAnswer,
  PermissionRequest,
} from "./acp/connection.ts";
import type { Child, ChildCommand, Exit } from "./child.ts";
import { type Driven, type Ending, endingFields } from "./driven.ts";
import type { SessionEvent, TurnEndReason } from "./event.ts";
import { LastWords } from "./last-words.ts";
import type { Output } from "./output.ts";
import { checkPrompt } from "./prompt.ts";
import { chosenBy, decisionOf, Questions } from "./questions.ts";
import type { Recording } from "./recording.ts";
import type { AcceptedPrompt, Permit, SessionDescriptor } from "./sessions.ts";
import { type PromptLog, Turn } from "./turn.ts";
import { UsageTally } from "./usage-tally.ts";

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
  logPrompt(session: SessionDescriptor, prompt: string, source: string | undefined): PromptLog;
  /** The session says something else of itself. */
  changed(session: AgentSession): void;
  /** Something went wrong that is no reason to end the session. */
  trouble(session: AgentSession, what: string): void;
}

/** How long an agent may take to come up: ms. Some are fetched first. */
const PATIENCE_MS = 90_000;
/** How long a cancelled turn may take to end before its agent is ended instead: ms. */
const CANCEL_MS = 10_000;
/** How long a turn may take to end when its session is stopped: ms. */
const CANCELLED_MS = 800;
/** How long an agent may take to end by itself when its input is over: ms. */
const INPUT_OVER_MS = 400;

/** One agent, from its start to its end: a child that is spoken with over ACP, and the recording of what it does. */
export class AgentSession implements Driven {
  readonly id: SessionId;
  readonly output: Output;
  readonly ended: Promise<void>;
  readonly #spec: AgentSessionSpec;
  readonly #tools: AgentSessionTools;
  readonly #startedAt: EpochMs;
  readonly #questions = new Questions();
  readonly #usage = new UsageTally();
  readonly #show: (event: SessionEvent) => string;
  #end: () => void = () => {};
  #child: Child | undefined;
  #connection: AcpConnection | undefined;
  #recording: Recording | undefined;
  #turn: Turn | undefined;
  #ending: Ending | undefined;
  /** Someone wants it to end. */
  #stopping = false;
  /** Why it had to be ended. */
  #fault: string | undefined;
  /** The agent is gone, or is of no more use. */
  #isClosed = false;
  /** How it ended, in words for a person. */
  #whyGone: Promise<string> = Promise.resolve("the agent has ended");

  constructor(spec: AgentSessionSpec, tools: AgentSessionTools) {
    this.id = spec.id;
    this.#spec = spec;
    this.#tools = tools;
    this.#startedAt = tools.clock.now();
    this.output = tools.output();
    this.#show = tools.shown(spec.id);
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  get child(): ProcessIdentity | undefined {
    return this.#child?.identity;
  }

  get isLive(): boolean {
    return this.#ending === undefined;
  }

  /** What could not be recorded so far. */
  get loss(): Recording["loss"] {
    return this.#recording?.loss;
  }

  describe(): SessionDescriptor {
    const { id, agent, cwd, name, permit, restartedFrom } = this.#spec;
    const model = this.#usage.figures().model ?? this.#connection?.model ?? this.#spec.model;
    const { pending } = this.#questions;
    return {
      id,
      kind: "agent",
      status: this.#status,
      agent,
      ...(name !== undefined && { name }),
      cwd,
      ...(model !== undefined && { model }),
      permit,
      ...(this.#connection !== undefined && { nativeSessionId: this.#connection.sessionId }),
      startedAt: this.#startedAt,
      ...(restartedFrom !== undefined && { restartedFrom }),
      ...(this.#ending === undefined
        ? this.#child !== undefined && { pid: this.#child.identity.pid }
        : endingFields(this.#ending)),
      ...(pending.length > 0 && { permissions: pending }),
    };
  }

  /** Brings it up. Called once. @throws Failure that says why it did not come up; it has ended then */
  async start(): Promise<void> {
    try {
      this.#recording = await this.#tools.record(this.id);
      if (this.#stopping) throw new Failure("conflict", "the session was stopped before it came up");
      this.#child = await this.#tools.start(this.#spec.command, this.id);
      const words = new LastWords(this.#child.stderr);
      this.#tools.changed(this);
      this.#connection = await this.#connect(this.#child).catch((error) => this.#notUp(error, words));
      void this.#watch(this.#child, this.#connection, words);
      this.#tools.changed(this);
    } catch (error) {
      await this.#child?.end(0);
      await this.#finish({ status: "failed", error: error instanceof Error ? error.message : String(error) });
      throw error;
    }
  }

  /** @throws Failure bad-request: empty or too long · conflict: it is busy, or has ended */
  async prompt(
    text: string,
    { interrupt = false, source }: { readonly interrupt?: boolean; readonly source?: string } = {},
  ): Promise<AcceptedPrompt> {
    checkPrompt(text);
    if (interrupt) await this.cancel();
    const { connection, recording } = this.#ready();
    const log = this.#tools.logPrompt(this.describe(), text, source);
    const turn = new Turn(log, () => recording.seq);
    this.#turn = turn;
    const seq = this.#record({ kind: "user-prompt", text, ...(source !== undefined && { source }) });
    this.#tools.changed(this);
    void this.#drive(turn, connection, text);
    await recording.written();
    return { id: this.id, seq, ended: turn.paused };
  }

  /** Comes back when no turn runs any more. An agent that does not end its turn is ended itself. */
  async cancel(): Promise<void> {
    const turn = this.#turn;
    if (turn === undefined) return;
    turn.cancelled = true;
    this.#connection?.cancel();
    this.#questions.cancel();
    const giveUp = this.#tools.timer.after(CANCEL_MS, () => {
      this.#fault = "the agent went on though it was told to cancel its turn, so it was ended";
      void this.#child?.end(0);
    });
    await turn.over;
    giveUp();
  }

  /** @throws Failure not-found · bad-request, as `Questions` */
  answer(toolCallId: string, optionId: string): void {
    if (this.#ending !== undefined) throw new Failure("conflict", `the session ${this.id} has ended`);
    this.#questions.answer(toolCallId, optionId);
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    // Asked by the protocol first, then by the end of its input: so an agent has all its own store in order.
    if (this.#turn !== undefined) {
      this.#connection?.cancel();
      await this.#within(CANCELLED_MS, this.#turn.over);
    }
    this.#child?.closeInput();
    await this.#within(INPUT_OVER_MS, this.ended);
    await this.#child?.end(graceMs);
    await this.ended;
  }

  /** What `work` comes to, or undefined after `ms` milliseconds. */
  async #within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
    let leave = (): void => {};
    const late = new Promise<undefined>((resolve) => {
      leave = this.#tools.timer.after(ms, () => resolve(undefined));
    });
    const done = await Promise.race([work, late]);
    leave();
    return done;
  }

  get #status(): SessionDescriptor["status"] {
    if (this.#ending !== undefined) return this.#ending.status;
    if (this.#connection === undefined) return "starting";
    if (this.#turn === undefined) return "idle";
    return this.#questions.pending.length > 0 ? "awaiting-input" : "busy";
  }

  #connect(child: Child): Promise<AcpConnection> {
    const { cwd, model, permit, resume } = this.#spec;
    return this.#tools.connect(
      { input: child.stdout, write: (line) => child.write(line) },
      {
        happened: (event) => this.#happened(event),
        permission: (request, signal) => this.#permission(request, signal),
        passedOver: (what) => this.#tools.trouble(this, what),
      },
      {
        cwd,
        ...(model !== undefined && { model }),
        ...(resume !== undefined && { resume }),
        permit,
        version: this.#tools.version,
        patienceMs: PATIENCE_MS,
      },
    );
  }

  /** @throws Failure: `error`, and what is known of the agent that did not come up */
  async #notUp(error: unknown, words: LastWords): Promise<never> {
    const exit = await this.#child?.end(0);
    const message = error instanceof Error ? error.message : String(error);
    const said = words.line();
    const detail = said === undefined ? "" : `; it said: ${said}`;
    throw new Failure(
      error instanceof Failure ? error.kind : "failed",
      `${this.#spec.agent} did not come up: ${message}${exit?.code ? ` (exit code ${exit.code})` : ""}${detail}`,
      error,
    );
  }

  #ready(): { readonly connection: AcpConnection; readonly recording: Recording } {
    const [connection, recording] = [this.#connection, this.#recording];
    if (this.#ending !== undefined || this.#stopping) throw new Failure("conflict", `the session ${this.id} has ended`);
    if (connection === undefined || recording === undefined) {
      throw new Failure("conflict", `the session ${this.id} is still starting: try again in a moment`);
    }
    if (this.#turn !== undefined) {
      const waits = this.#questions.pending.length > 0 ? ": it waits for the answer to a permission question" : "";
      throw new Failure("conflict", `the session ${this.id} is busy with a turn${waits}; cancel it, or send interrupt`);
    }
    return { connection, recording };
  }

  async #drive(turn: Turn, connection: AcpConnection, text: string): Promise<void> {
    let reason: TurnEndReason;
    try {
      const end = await connection.prompt(text);
      this.#usage.turn(end.usage);
      reason = this.#reasonOf(end.stopReason, turn);
    } catch (error) {
      reason = await this.#failedTurn(error, turn);
    }
    // What is asked now, nobody waits for any more; what waits while we are ended stays unanswered.
    if (!this.#stopping) this.#questions.cancel();
    this.#record({ kind: "turn-end", reason });
    this.#snapshot();
    await this.#recording?.written();
    this.#turn = undefined;
    this.#tools.changed(this);
    turn.ended({ reason, seq: this.#recording?.seq ?? 0 });
    await turn.log.end(reason, turn.error);
  }

  #reasonOf(stopReason: string, turn: Turn): TurnEndReason {
    switch (stopReason) {
      case "end_turn":
        return "completed";
      case "cancelled":
        return this.#stopping ? this.#stopReason : "cancelled";
      case "max_turn_requests":
        return "max_turns";
      case "max_tokens":
        return this.#turnError(turn, "the model stopped at its longest answer", stopReason);
      case "refusal":
        return this.#turnError(turn, "the agent refuses to go on", stopReason);
      default:
        return this.#turnError(turn, "the agent ended the turn in a way that is not known", stopReason);
    }
  }

  async #failedTurn(error: unknown, turn: Turn): Promise<TurnEndReason> {
    if (this.#stopping) return this.#stopReason;
    if (turn.cancelled) return "cancelled";
    // That the agent is gone is told in the same turn of the loop as that it will not answer.
    await new Promise(setImmediate);
    if (!this.#isClosed)
      return this.#turnError(turn, error instanceof Error ? error.message : String(error), undefined);
    this.#turnError(turn, await this.#whyGone, undefined);
    return "exited";
  }

  /** Why a turn ends that is running when the session is ended. */
  get #stopReason(): TurnEndReason {
    return this.#questions.pending.length > 0 ? "awaiting-input" : "aborted";
  }

  #turnError(turn: Turn, message: string, code: string | undefined): "error" {
    turn.error = message;
    this.#record({ kind: "error", error: { message, ...(code !== undefined && { code }) } });
    return "error";
  }

  async #happened(event: SessionEvent): Promise<void> {
    if (event.kind === "usage_update") this.#usage.told(event);
    this.#record(event);
    this.#turn?.log.happened(event);
    await this.#recording?.room();
  }

  async #permission(request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer> {
    const { toolCallId, options } = request;
    await this.#happened({ kind: "agent-prompt", toolCallId, options });
    const answer = await this.#answerTo(request, signal);
    if (answer === "cancelled" && this.#stopping) return answer;
    const option = answer === "cancelled" ? undefined : options.find(({ optionId }) => optionId === answer.optionId);
    const how = option === undefined ? "cancelled" : decisionOf(option);
    const chosen = option === undefined ? {} : { optionId: option.optionId };
    this.#record({ kind: "permission-resolved", toolCallId, decision: how, ...chosen });
    this.#tools.changed(this);
    return answer;
  }

  #answerTo(request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer> {
    const { permit } = this.#spec;
    if (permit !== "ask") {
      const option = chosenBy(permit, request.options);
      return Promise.resolve(option === undefined ? "cancelled" : { optionId: option.optionId });
    }
    const answer = this.#questions.ask(request, signal);
    this.#tools.changed(this);
    this.#turn?.waits();
    return answer;
  }

  #record(event: SessionEvent): number {
    const shown = this.#show(event);
    if (shown !== "") this.output.write(shown);
    return this.#recording?.take(event) ?? 0;
  }

  #snapshot(): void {
    this.#record({ kind: "usage_snapshot", ...this.#usage.figures(), source: "adapter" });
  }

  /** Waits for the end of the agent, by itself or not, and puts everything in order then. */
  async #watch(child: Child, connection: AcpConnection, words: LastWords): Promise<void> {
    const ended = this.#endOf(child, connection);
    this.#whyGone = ended.then(({ exit }) => this.#fault ?? whyEnded(this.#spec.agent, exit, words.line()));
    const { exit, wanted } = await ended;
    connection.close();
    await this.#turn?.over;
    const isFine = wanted || (this.#fault === undefined && exit.code === 0);
    await this.#finish({
      status: isFine ? "ended" : "failed",
      exit,
      ...(!isFine && { error: await this.#whyGone }),
    });
  }

  /** How the agent ended, and whether someone had wanted it to by then. */
  async #endOf(child: Child, connection: AcpConnection): Promise<{ readonly exit: Exit; readonly wanted: boolean }> {
    const first = await Promise.race([child.exited, connection.closed]);
    this.#isClosed = true;
    const wanted = this.#stopping;
    // Most close their output by ending; one that lives on can't be spoken with, and is of no more use.
    const exit = first ?? (await this.#within(INPUT_OVER_MS, child.exited));
    if (exit === undefined && !wanted) this.#fault ??= "the agent closed its output and went on, so it was ended";
    const last = await child.end(0);
    return { exit: exit ?? last, wanted };
  }

  async #finish(ending: Omit<Ending, "endedAt">): Promise<void> {
    if (this.#recording !== undefined && this.#recording.seq > 0) this.#snapshot();
    await this.#recording?.close();
    this.output.end();
    this.#ending = { ...ending, endedAt: this.#tools.clock.now() };
    this.#tools.changed(this);
    this.#end();
  }
}

function whyEnded(agent: string, { code, signal }: Exit, said: string | undefined): string {
  const how = signal === null ? `with exit code ${code ?? "unknown"}` : `by ${signal}`;
  return `${agent} ended by itself ${how}${said === undefined ? "" : `; it said: ${said}`}`;
}
