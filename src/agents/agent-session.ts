import type { EpochMs } from "../platform/clock.ts";
import { errorText, Failure } from "../platform/failure.ts";
import type { ProcessIdentity } from "../platform/process-identity.ts";
import { within } from "../platform/timer.ts";
import type { SessionId } from "../transcript/names.ts";
import type { AcpConnection } from "./acp/connection.ts";
import type { AgentSessionSpec, AgentSessionTools } from "./agent-parts.ts";
import { AgentProcess } from "./agent-process.ts";
import { Answering } from "./answering.ts";
import { type Driven, type Ending, endingFields } from "./driven.ts";
import type { SessionEvent, TurnEndReason } from "./event.ts";
import type { Output } from "./output.ts";
import { checkPrompt } from "./prompt.ts";
import type { Loss } from "./recording.ts";
import { SessionTap } from "./session-tap.ts";
import type { AcceptedPrompt, SessionDescriptor } from "./sessions.ts";
import { Turn } from "./turn.ts";
import { turnOutcome } from "./turn-outcome.ts";

/** How long an agent may take to come up: ms. Some are fetched first. */
const PATIENCE_MS = 90_000;
/** How long a cancelled turn may take to end before its agent is ended instead: ms. */
const CANCEL_MS = 10_000;
/** How long the history of runs may keep a prompt waiting that is on its way: ms. */
const BEGUN_MS = 1_000;
/** How long a turn may take to end when its session is stopped: ms. */
const CANCELLED_MS = 800;

/** One agent, from its start to its end: a child that is spoken with over ACP, and the recording of what it does. */
export class AgentSession implements Driven {
  readonly id: SessionId;
  readonly ended: Promise<void>;
  readonly #spec: AgentSessionSpec;
  readonly #tools: AgentSessionTools;
  readonly #startedAt: EpochMs;
  readonly #answering: Answering;
  readonly #tap: SessionTap;
  #end: () => void = () => {};
  #process: AgentProcess | undefined;
  #connection: AcpConnection | undefined;
  #turn: Turn | undefined;
  #logged: Promise<unknown> = Promise.resolve();
  #ending: Ending | undefined;
  /** Someone wants it to end: why a turn ends that was running then. */
  #stopping: TurnEndReason | undefined;

  constructor(spec: AgentSessionSpec, tools: AgentSessionTools) {
    this.id = spec.id;
    this.#spec = spec;
    this.#tools = tools;
    this.#startedAt = tools.clock.now();
    this.#tap = new SessionTap(tools.output(), tools.shown(spec.id));
    this.#answering = new Answering(spec.permit, {
      happened: (event) => this.#happened(event),
      changed: () => tools.changed(),
      waits: () => this.#turn?.waits(),
    });
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  get output(): Output {
    return this.#tap.output;
  }

  get child(): ProcessIdentity | undefined {
    return this.#process?.identity;
  }

  get isLive(): boolean {
    return this.#ending === undefined;
  }

  /** What could not be recorded so far. */
  get loss(): Loss | undefined {
    return this.#tap.loss;
  }

  /** When what its prompts so far are written down as besides the recording is written, or known not to be. Never fails. */
  get logged(): Promise<unknown> {
    return this.#logged;
  }

  describe(): SessionDescriptor {
    const { id, agent, cwd, name, permit, restartedFrom } = this.#spec;
    const model = this.#tap.usage.model ?? this.#connection?.model ?? this.#spec.model;
    const { pending } = this.#answering;
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
        ? this.#process !== undefined && { pid: this.#process.identity.pid }
        : endingFields(this.#ending)),
      ...(pending.length > 0 && { permissions: pending }),
    };
  }

  /** Brings it up. Called once. @throws Failure that says why it did not come up; it has ended then */
  async start(): Promise<void> {
    try {
      this.#tap.recordTo(await this.#tools.record(this.id));
      this.#requireWanted();
      const { agent, command } = this.#spec;
      const process = new AgentProcess(agent, await this.#tools.start(command, this.id), this.#tools.timer);
      this.#process = process;
      this.#tools.changed();
      this.#requireWanted();
      const connection = await this.#connect(process);
      this.#connection = connection;
      void this.#watch(process, connection);
      this.#tools.changed();
    } catch (error) {
      await this.#process?.end(0);
      const message = errorText(error);
      await this.#finish(this.#stopping === undefined ? { status: "failed", error: message } : { status: "ended" });
      this.#requireWanted();
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
    const connection = this.#ready(interrupt);
    const log = this.#tools.logPrompt(this.describe(), text, { source, after: this.#logged });
    const turn = new Turn(log, () => this.#tap.seq);
    this.#turn = turn;
    const seq = this.#tap.take({ kind: "user-prompt", text, ...(source !== undefined && { source }) });
    this.#tools.changed();
    void this.#drive(turn, connection, text);
    await Promise.all([this.#tap.written(), within(this.#tools.timer, BEGUN_MS, log.begun)]);
    return { id: this.id, seq, ended: turn.paused };
  }

  /** Comes back when no turn runs any more. An agent that does not end its turn is ended itself, and the session with it. */
  async cancel(): Promise<void> {
    const turn = this.#turn;
    if (turn === undefined) return;
    turn.cancelled = true;
    this.#connection?.cancel();
    await this.#answering.cancel();
    let isGivenUp = false;
    const keepWaiting = this.#tools.timer.after(CANCEL_MS, () => {
      isGivenUp = true;
      void this.#process?.end(0, "the agent went on though it was told to cancel its turn, so it was ended");
    });
    await turn.over;
    keepWaiting();
    // Whoever cancelled is told what has become of the session, not what it was for a moment.
    if (isGivenUp || this.#process?.whyGone !== undefined) await this.ended;
  }

  /** @throws Failure conflict: it has ended · not-found, bad-request, as `Questions` */
  answer(toolCallId: string, optionId: string): void {
    if (this.#ending !== undefined) throw new Failure("conflict", `the session ${this.id} has ended`);
    this.#answering.answer(toolCallId, optionId);
  }

  abandon(): void {
    this.output.end();
    this.#end();
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping ??= this.#answering.pending.length > 0 ? "awaiting-input" : "aborted";
    // Asked by the protocol first, then by the end of its input: so an agent has all its own store in order.
    if (this.#turn !== undefined) {
      this.#connection?.cancel();
      await this.#answering.cancel();
      await within(this.#tools.timer, CANCELLED_MS, this.#turn.over);
    }
    await this.#process?.leave();
    await this.#process?.end(graceMs);
    await this.ended;
  }

  get #status(): SessionDescriptor["status"] {
    if (this.#ending !== undefined) return this.#ending.status;
    if (this.#connection === undefined) return "starting";
    if (this.#turn === undefined) return "idle";
    return this.#answering.pending.length > 0 ? "awaiting-input" : "busy";
  }

  /** @throws Failure conflict: someone has stopped it */
  #requireWanted(): void {
    if (this.#stopping === undefined) return;
    throw new Failure("conflict", `the session ${this.id} was stopped before it came up`);
  }

  async #connect(process: AgentProcess): Promise<AcpConnection> {
    const { cwd, model, permit, resume } = this.#spec;
    try {
      return await this.#tools.connect(
        process.streams,
        {
          happened: (event) => this.#happened(event),
          permission: (request, signal) => this.#answering.asked(request, signal),
          passedOver: (what) => this.#tools.trouble(what),
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
    } catch (error) {
      throw await process.notUp(error);
    }
  }

  /** The agent, when it can be prompted. `interrupt`: the turn before was cancelled for that. @throws Failure conflict */
  #ready(interrupt: boolean): AcpConnection {
    const isOver = this.#ending !== undefined || this.#stopping !== undefined || this.#process?.whyGone !== undefined;
    if (isOver) throw new Failure("conflict", `the session ${this.id} has ended: restart it`);
    if (this.#connection === undefined) {
      throw new Failure("conflict", `the session ${this.id} is still starting: try again in a moment`);
    }
    if (this.#turn !== undefined) {
      if (interrupt) {
        throw new Failure("conflict", `another prompt to the session ${this.id} came first: this one was not taken`);
      }
      const waits = this.#answering.pending.length > 0 ? ": it waits for the answer to a permission question" : "";
      throw new Failure("conflict", `the session ${this.id} is busy with a turn${waits}; cancel it, or send interrupt`);
    }
    return this.#connection;
  }

  /** Sees the turn to its end, which is told in this order: recorded, shown, written down. Never fails. */
  async #drive(turn: Turn, connection: AcpConnection, text: string): Promise<void> {
    const reason = await turnOutcome(turn, text, {
      connection,
      spent: (usage) => this.#tap.spent(usage),
      stopping: () => this.#stopping,
      whyGone: () => this.#process?.whyGone,
    });
    // What is asked now, nobody waits for any more.
    await this.#answering.cancel();
    if (reason === "error" || reason === "exited") {
      const { error: message = "", code } = turn;
      this.#tap.take({ kind: "error", error: { message, ...(code !== undefined && { code }) } });
    }
    this.#tap.take({ kind: "turn-end", reason });
    this.#tap.snapshot();
    const { seq } = this.#tap;
    this.#logged = Promise.all([this.#logged, turn.log.end(reason, turn.error)]);
    await this.#tap.written();
    this.#turn = undefined;
    this.#tools.changed();
    turn.ended({ reason, seq });
  }

  async #happened(event: SessionEvent): Promise<void> {
    this.#tap.take(event);
    this.#turn?.log.happened(event);
    await this.#tap.room();
  }

  /** Waits for the end of the agent, by itself or not, and puts everything in order then. */
  async #watch(process: AgentProcess, connection: AcpConnection): Promise<void> {
    const { exit, error } = await process.over(connection, () => this.#stopping !== undefined);
    await this.#turn?.over;
    await this.#answering.cancel();
    await this.#finish({ status: error === undefined ? "ended" : "failed", exit, error });
  }

  async #finish(ending: Omit<Ending, "endedAt">): Promise<void> {
    await this.#tap.close();
    this.#ending = { ...ending, endedAt: this.#tools.clock.now() };
    this.#tools.changed();
    this.#end();
  }
}
