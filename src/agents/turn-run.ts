import type { Clock, EpochMs } from "../platform/clock.ts";
import type { LockWait } from "../platform/lock.ts";
import { ourIdentity } from "../platform/process-identity.ts";
import type { JsonObject } from "../platform/read.ts";
import { type Timer, within } from "../platform/timer.ts";
import { type RunLog, type RunOutcome, writeRun } from "../runs/write.ts";
import { clip, oneLine } from "../transcript/clip.ts";
import { TEXT_CHARACTERS, TITLE_CHARACTERS } from "../transcript/limits.ts";
import { summarise } from "../transcript/summary.ts";
import type { SessionEvent } from "./event.ts";
import { type JobSession, jobId, jobName, runAgent, saveJob } from "./session-job.ts";
import type { Permit } from "./sessions.ts";

/** What the history of runs and jobs is written with. */
export interface RunTools {
  /** Our own folder. */
  readonly bridgeHome: string;
  readonly clock: Clock;
  readonly timer: Timer;
  /** How long others may hold the lock. */
  readonly wait?: LockWait;
  /** Told when something of it could not be written; the session goes on. */
  fault(error: unknown): void;
}

/** How long the log of a run waits for its job to be told as running: ms. */
const JOB_MS = 2_000;
/** The least time between two lines of progress: ms. */
const PROGRESS_MS = 2_000;

/** So much of the answer is kept at most, and a chunk: white space around it is left out in the end. */
const KEPT_CHARACTERS = 2 * TEXT_CHARACTERS;

const ACCESS: { readonly [permit in Permit]: "ask" | "edit" | "default" } = {
  ask: "ask",
  allow: "edit",
  deny: "default",
};

/**
 * One prompt of an agent session as a run, with its log and metadata, and as the state of the session's job. It is written
 * beside the turn: what can't be written is told to `fault` and holds nothing up.
 */
export class TurnRun {
  /** When the job is told as running, or can't be. */
  #running: Promise<void> = Promise.resolve();
  readonly #tools: RunTools;
  readonly #session: JobSession;
  readonly #prompt: string;
  readonly #startedAt: EpochMs;
  readonly #outcome: Promise<RunOutcome>;
  readonly #log: Promise<RunLog | undefined>;
  readonly #written: Promise<void>;
  #end: (outcome: RunOutcome) => void = () => {};
  #opened: (log: RunLog | undefined) => void = () => {};
  #isOver = false;
  /** The beginning of what was said since the last call. */
  #answer = "";
  #steps = 0;
  #toldAt = 0;

  /** `by`: who asked. `after`: when the session's run before it is written. */
  constructor(
    tools: RunTools,
    session: JobSession,
    prompt: string,
    { by, after }: { readonly by: string; readonly after: Promise<unknown> },
  ) {
    this.#tools = tools;
    this.#session = session;
    this.#prompt = prompt;
    this.#startedAt = tools.clock.now();
    this.#outcome = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#log = new Promise((resolve) => {
      this.#opened = resolve;
    });
    this.#written = after.then(() => this.#write(by)).catch((error) => tools.fault(error));
    void this.#written.then(() => this.#opened(undefined));
  }

  /** When it stands in the history, or is known not to. Never fails. */
  get begun(): Promise<unknown> {
    return this.#log;
  }

  /** Something happened in the turn. */
  happened(event: SessionEvent): void {
    if (this.#isOver) return;
    switch (event.kind) {
      case "text-delta":
        if (this.#answer.length <= KEPT_CHARACTERS) this.#answer += event.text.slice(0, KEPT_CHARACTERS);
        return;
      case "tool-call":
        if (event.isUpdate === true) return;
        this.#answer = "";
        this.#steps++;
        this.#progress(`step ${this.#steps} · running: ${stepOf(event.toolName, event.arguments)}`);
        return;
      case "agent-prompt":
        this.#progress("waits for permission", true);
        return;
      default:
        return;
    }
  }

  /** The turn has ended. Comes back when that is written, or known not to be. */
  async end(outcome: RunOutcome): Promise<void> {
    this.#isOver = true;
    this.#end(outcome);
    await this.#written;
  }

  async #write(by: string): Promise<void> {
    const { id, agent, cwd, model, permit, chat } = this.#session;
    const start = {
      agent: runAgent(agent),
      id: jobId(id),
      ...(model !== undefined && { model }),
      workdir: cwd,
      access: ACCESS[permit],
      by,
      prompt: this.#prompt,
      metadata: {
        job: jobName(this.#session),
        title: titleOf(this.#prompt),
        jobStartedAt: this.#session.startedAt,
        session: chat,
        recording: id,
      },
    };
    await writeRun(this.#tools, start, (log) => this.#follow(log, by)).finally(async () => {
      // Also of a run that could not be written: then the job is all that tells of it.
      const status = statusOf(await this.#outcome);
      await this.#running;
      await this.#saveJob({ status, finishedAt: this.#tools.clock.now(), host: null });
    });
  }

  /** Writes what happens until the turn has ended. A job comes after its log: without one it would be taken for a run that was lost. */
  async #follow(log: RunLog, by: string): Promise<RunOutcome> {
    const host = { ...ourIdentity(), peer: by, startedAt: this.#startedAt };
    const running = { status: "running", prompt: this.#prompt, finishedAt: null, owner: by, host };
    this.#running = this.#saveJob(running).catch((error) => this.#tools.fault(error));
    // Not waited for longer: a log that goes on tells of the run, whoever else has the jobs meanwhile.
    await within(this.#tools.timer, JOB_MS, this.#running);
    await log.note("started");
    this.#opened(log);
    const outcome = await this.#outcome;
    const answer = this.#answer.trim();
    if (answer !== "") await this.#note(`answer: ${clip(answer, TEXT_CHARACTERS).text}`);
    return outcome;
  }

  async #saveJob(changes: JsonObject): Promise<void> {
    const args = { title: this.#session.name ?? titleOf(this.#prompt) };
    await saveJob(this.#tools, this.#session, { args, ...changes });
  }

  #progress(text: string, always = false): void {
    const now = this.#tools.clock.now();
    if (!always && now - this.#toldAt < PROGRESS_MS) return;
    this.#toldAt = now;
    const seconds = Math.max(0, Math.round((now - this.#startedAt) / 1_000));
    void this.#note(`${seconds}s · ${text}`);
  }

  async #note(text: string): Promise<void> {
    try {
      await (await this.#log)?.note(text);
    } catch (error) {
      this.#tools.fault(error);
    }
  }
}

function titleOf(prompt: string): string {
  return clip(oneLine(prompt), TITLE_CHARACTERS).text;
}

function stepOf(tool: string, input: unknown): string {
  const what = summarise(tool, input);
  return clip(oneLine(what === "" || what === "{}" ? tool : `${tool} ${what}`), TITLE_CHARACTERS).text;
}

function statusOf(outcome: RunOutcome): "done" | "interrupted" | "failed" {
  return typeof outcome === "string" ? outcome : "failed";
}
