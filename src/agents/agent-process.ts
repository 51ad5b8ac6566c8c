import { errorText, Failure } from "../platform/failure.ts";
import type { ProcessIdentity } from "../platform/process-identity.ts";
import { type Timer, within } from "../platform/timer.ts";
import { AgentError } from "./acp/agent-error.ts";
import type { AcpConnection, AcpStreams } from "./acp/connection.ts";
import type { Child, Exit } from "./child.ts";
import { LastWords } from "./last-words.ts";

/** How long an agent may take to end by itself when it closed its output, or its input is over: ms. */
const LEAVING_MS = 400;

/** How an agent ended. */
export interface AgentEnd {
  readonly exit: Exit;
  /** Why, when nobody had wanted it to, or it ended badly: one line for a person. */
  readonly error?: string;
}

/** The process of an agent, until none of it is left. */
export class AgentProcess {
  readonly identity: ProcessIdentity;
  readonly streams: AcpStreams;
  readonly #agent: string;
  readonly #child: Child;
  readonly #timer: Timer;
  readonly #words: LastWords;
  /** How it had ended when we ended it, or what was left of it, for the first time. */
  readonly #ended: Promise<Exit>;
  #resolveEnded: (exit: Exit) => void = () => {};
  #fault: string | undefined;
  #whyGone: Promise<string> | undefined;

  /** `agent`: what it is called. */
  constructor(agent: string, child: Child, timer: Timer) {
    this.identity = child.identity;
    this.streams = { input: child.stdout, write: (line) => child.write(line) };
    this.#agent = agent;
    this.#child = child;
    this.#timer = timer;
    this.#words = new LastWords(child.stderr);
    this.#ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  /** Once nothing more comes from it: why, in words for a person. */
  get whyGone(): Promise<string> | undefined {
    return this.#whyGone;
  }

  /** Its input is over. Comes back when it has ended by that, or seems not to. */
  async leave(): Promise<void> {
    this.#child.closeInput();
    await within(this.#timer, LEAVING_MS, this.#child.exited);
  }

  /** Ends it and all that it started. `fault`: why it had to be ended. */
  async end(graceMs: number, fault?: string): Promise<Exit> {
    this.#fault ??= fault;
    const exit = await this.#child.end(graceMs);
    this.#resolveEnded(exit);
    return exit;
  }

  /** Ends it, since it could not be spoken with for `error`; what is to be said of that. */
  async notUp(error: unknown): Promise<Failure> {
    // One that has answered is there; of any other it is best to know how it went.
    const isThere = error instanceof Failure && error.cause instanceof AgentError;
    const exit = isThere ? undefined : await within(this.#timer, LEAVING_MS, this.#child.exited);
    await this.end(0);
    const message = errorText(error);
    const why = exit === undefined ? message : `it ended ${howEnded(exit)}`;
    // That the agent does not come up is no fault of ours.
    const kind = error instanceof Failure && error.kind !== "failed" ? error.kind : "conflict";
    return new Failure(kind, `${this.#agent} did not come up: ${why}${this.#lastWords()}`, error);
  }

  /**
   * Comes back when none of it is left, whether it ended by itself or not. `isWanted` is asked when nothing more comes from
   * it: then whoever wants its end sees to that. Called once.
   */
  async over(connection: AcpConnection, isWanted: () => boolean): Promise<AgentEnd> {
    const first = await Promise.race([this.#child.exited, connection.closed]);
    const wanted = isWanted();
    const ended = wanted ? this.#ended : this.#endOf(first ?? undefined);
    this.#whyGone = ended.then(
      (exit) => this.#fault ?? `${this.#agent} ended by itself ${howEnded(exit)}${this.#lastWords()}`,
    );
    connection.close(new Failure("failed", await this.#whyGone));
    const exit = await ended;
    const isFine = wanted || (this.#fault === undefined && exit.code === 0);
    return { exit, ...(!isFine && { error: await this.#whyGone }) };
  }

  /** Most close their output by ending; one that lives on can't be spoken with, and is of no more use. */
  async #endOf(known: Exit | undefined): Promise<Exit> {
    const exit = known ?? (await within(this.#timer, LEAVING_MS, this.#child.exited));
    const last = await this.end(0, exit === undefined ? CLOSED : undefined);
    return exit ?? last;
  }

  #lastWords(): string {
    const said = this.#words.line();
    return said === undefined ? "" : `; it said: ${said}`;
  }
}

const CLOSED = "the agent closed its output and went on, so it was ended";

function howEnded({ code, signal }: Exit): string {
  return signal === null ? `with exit code ${code ?? "unknown"}` : `by ${signal}`;
}
