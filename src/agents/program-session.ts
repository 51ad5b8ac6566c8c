import type { Clock, EpochMs } from "../platform/clock.ts";
import { errorText, Failure } from "../platform/failure.ts";
import type { ProcessIdentity } from "../platform/process-identity.ts";
import type { SessionId } from "../transcript/names.ts";
import { type Driven, type Ending, endingFields } from "./driven.ts";
import type { Output } from "./output.ts";
import type { RunningProgram } from "./program.ts";
import type { SessionDescriptor, SessionInput } from "./sessions.ts";

/** What a command or terminal session is to be. */
export interface ProgramSpec {
  readonly id: SessionId;
  readonly kind: "command" | "terminal";
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly name?: string | undefined;
  readonly restartedFrom?: SessionId | undefined;
  readonly columns: number;
  readonly rows: number;
}

/** What a command or terminal session is made with. */
export interface ProgramTools {
  readonly clock: Clock;
  /** Refuses what can be told before it is started. @throws Failure bad-request */
  check(what: Pick<ProgramSpec, "argv" | "cwd">): void;
  start(spec: ProgramSpec, output: Output): Promise<RunningProgram>;
  output(): Output;
  changed(session: ProgramSession): void;
}

/** A program over pipes or on a terminal of its own. Nothing of it is recorded: what it printed last is all there is. */
export class ProgramSession implements Driven {
  readonly id: SessionId;
  readonly output: Output;
  readonly ended: Promise<void>;
  readonly #spec: ProgramSpec;
  readonly #tools: ProgramTools;
  readonly #startedAt: EpochMs;
  #size: Pick<ProgramSpec, "columns" | "rows">;
  #program: RunningProgram | undefined;
  #ending: Ending | undefined;
  #stopping = false;
  #end: () => void = () => {};

  constructor(spec: ProgramSpec, tools: ProgramTools) {
    this.id = spec.id;
    this.#spec = spec;
    this.#size = { columns: spec.columns, rows: spec.rows };
    this.#tools = tools;
    this.#startedAt = tools.clock.now();
    this.output = tools.output();
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  get child(): ProcessIdentity | undefined {
    return this.#program?.identity;
  }

  get isLive(): boolean {
    return this.#ending === undefined;
  }

  describe(): SessionDescriptor {
    const { id, kind, argv, cwd, name, restartedFrom } = this.#spec;
    return {
      id,
      kind,
      status: this.#program === undefined ? "starting" : "busy",
      ...(name !== undefined && { name }),
      cwd,
      argv,
      ...(kind === "terminal" && this.#size),
      startedAt: this.#startedAt,
      ...(restartedFrom !== undefined && { restartedFrom }),
      ...(this.#ending === undefined
        ? this.#program !== undefined && { pid: this.#program.identity.pid }
        : endingFields(this.#ending)),
    };
  }

  /** Brings it up. Called once. @throws Failure that says why it did not come up; it has ended then */
  async start(): Promise<void> {
    try {
      if (this.#stopping) throw new Failure("conflict", `the session ${this.id} was stopped before it began`);
      this.#program = await this.#tools.start(this.#spec, this.output);
    } catch (error) {
      const message = errorText(error);
      this.#finish(this.#stopping ? { status: "ended" } : { status: "failed", error: message });
      throw error;
    }
    this.#tools.changed(this);
    void this.#watch(this.#program);
    if (this.#stopping) await this.#program.end(0);
  }

  /** @throws Failure conflict: it has ended, or is no terminal that has a size */
  async input({ text, end, columns, rows }: SessionInput): Promise<void> {
    const program = this.#program;
    if (program === undefined || this.#ending !== undefined) {
      throw new Failure("conflict", `the session ${this.id} has ended`);
    }
    if (columns !== undefined && rows !== undefined) {
      if (this.#spec.kind !== "terminal") throw new Failure("conflict", "a command session has no terminal to resize");
      await program.resize(columns, rows);
      this.#size = { columns, rows };
      this.#tools.changed(this);
    }
    if (text !== undefined) program.input(text);
    if (end === true) program.endInput();
  }

  abandon(): void {
    this.output.end();
    this.#end();
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    await this.#program?.end(graceMs);
    await this.ended;
  }

  async #watch(program: RunningProgram): Promise<void> {
    const exit = await program.exited;
    this.#finish({ status: this.#stopping || exit.code === 0 ? "ended" : "failed", exit });
  }

  #finish(ending: Omit<Ending, "endedAt">): void {
    this.output.end();
    this.#ending = { ...ending, endedAt: this.#tools.clock.now() };
    this.#tools.changed(this);
    this.#end();
  }
}
