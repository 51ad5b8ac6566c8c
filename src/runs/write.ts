import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, EpochMs } from "../platform/clock.ts";
import { errorText, Failure } from "../platform/failure.ts";
import { type LockWait, withLock } from "../platform/lock.ts";
import { createPrivate, writePrivate } from "../platform/private-file.ts";
import { ourIdentity } from "../platform/process-identity.ts";
import { asObject, type JsonObject } from "../platform/read.ts";
import type { Timer } from "../platform/timer.ts";
import { oneLine } from "../transcript/clip.ts";
import { entryText } from "./log.ts";
import { runName } from "./names.ts";
import { damaged, isTaken, parseOwn, readOwn, requireKnownVersion } from "./own-json.ts";

/** What a run's writer works with. */
export interface RunWriterTools {
  /** Our own folder. */
  readonly bridgeHome: string;
  readonly clock: Clock;
  readonly timer: Timer;
  /** How long others may hold the lock. */
  readonly wait?: LockWait;
  /** Told when a line that nobody waits for could not be written. */
  fault(error: unknown): void;
}

/** How a run begins. */
export interface RunStart {
  readonly agent: string;
  /** The job's id: 8 hex digits. */
  readonly id: string;
  readonly model?: string;
  readonly effort?: string;
  readonly workdir: string;
  readonly access: "read" | "edit" | "ask" | "default";
  /** The peer that asked for it. */
  readonly by: string;
  /** The session that it goes on with. */
  readonly continues?: string;
  readonly prompt: string;
  /** What stands in its metadata besides: job, title, session, branch … */
  readonly metadata: JsonObject;
}

/** How a run ended. */
export type RunOutcome = "done" | "interrupted" | { readonly failed: string };

/** Marks the metadata of runs that this program wrote, and may therefore archive. */
export const WRITER = "agent-bridge";
const VERSION = 2;
/** Readers take a log that was quiet for 150 s for interrupted, and rely on a line at least every 60 s. */
const HEARTBEAT_MS = 50_000;

/** A run that is being written. */
export interface RunLog {
  /** The public name of the run. */
  readonly name: string;
  /**
   * Adds an entry; of several at once each is whole, in the order of the calls.
   * @throws Failure failed: the run has ended · the system's error
   */
  note(text: string): Promise<void>;
  /**
   * Changes its metadata: `changes` over what is there, every other key kept. Written only when something changes; whether it was.
   * @throws Failure failed: damaged, of a newer version, locked by another for too long · the system's error
   */
  update(changes: JsonObject): Promise<boolean>;
}

/**
 * Writes a run for as long as `turn` takes: `turn` adds its entries and gives how it ended, which is the last of them. When
 * it throws, the run has failed; when this process dies, the process that its metadata names is gone, and so it was interrupted.
 * So no run that nobody works on any more is shown as running. Gives the run's name.
 * @throws what `turn` does · Failure failed: locked by another for too long · the system's error
 */
export async function writeRun(
  tools: RunWriterTools,
  start: RunStart,
  turn: (run: RunLog) => Promise<RunOutcome>,
): Promise<string> {
  const run = await startRun(tools, start);
  let outcome: RunOutcome;
  try {
    outcome = await turn(run);
  } catch (error) {
    const reason = errorText(error);
    await run.finish({ failed: reason }).catch((unfinished) => tools.fault(unfinished));
    throw error;
  }
  await run.finish(outcome);
  return run.name;
}

/**
 * Begins the log and the metadata of a run, under a name that no other run has. The log is there with its whole header, or
 * not at all; it comes first, since its name alone leads to the job.
 */
async function startRun(tools: RunWriterTools, start: RunStart): Promise<RunWriter> {
  if (!/^[A-Za-z0-9][\w.-]{0,63}$/.test(start.agent) || !/^[0-9a-f]{8}$/.test(start.id)) {
    throw new RangeError(`${start.agent} and ${start.id} make no name for a run`);
  }
  const { bridgeHome, clock, wait } = tools;
  const startedAt = clock.now();
  const header = entryText(timeOfDay(startedAt), `${headerOf(start)}\n${start.prompt}\n---`);
  const name = await withLock(
    bridgeHome,
    async () => {
      const free = await createLog(bridgeHome, start, startedAt, header);
      await createPrivate(join(bridgeHome, "runs", `${free}.json`), metadataText(metadataOf(start)));
      return free;
    },
    wait,
  );
  const log = await open(join(bridgeHome, "runs", `${name}.log`), "a", 0o600);
  return new RunWriter(tools, name, { start, startedAt }, log);
}

/** How and when a run began. */
interface Begun {
  readonly start: RunStart;
  readonly startedAt: EpochMs;
}

/** Writes one run, entry by entry, until it is finished. */
class RunWriter implements RunLog {
  readonly name: string;
  readonly #tools: RunWriterTools;
  readonly #begun: Begun;
  readonly #log: FileHandle;
  #last: Promise<void> = Promise.resolve();
  #cancelBeat: () => void = () => {};
  /** A write that failed may have left half a line. */
  #torn = false;
  #finished = false;

  constructor(tools: RunWriterTools, name: string, begun: Begun, log: FileHandle) {
    this.name = name;
    this.#tools = tools;
    this.#begun = begun;
    this.#log = log;
    this.#beatLater();
  }

  async note(text: string): Promise<void> {
    if (this.#finished) throw new Failure("failed", `the run ${this.name} has ended`);
    await this.#write(text);
  }

  update(changes: JsonObject): Promise<boolean> {
    const path = join(this.#tools.bridgeHome, "runs", `${this.name}.json`);
    return withLock(
      this.#tools.bridgeHome,
      async () => {
        const before = existingMetadata(readOwn(path), this.name) ?? metadataOf(this.#begun.start);
        const after = { ...before, ...changes };
        if (JSON.stringify(after) === JSON.stringify(before)) return false;
        await writePrivate(path, metadataText(after));
        return true;
      },
      this.#tools.wait,
    );
  }

  /** Writes how it ended, for good. Called once. @throws the system's error */
  async finish(outcome: RunOutcome): Promise<void> {
    this.#finished = true;
    this.#cancelBeat();
    const how = typeof outcome === "string" ? outcome : `failed: ${outcome.failed}`;
    try {
      await this.#write(`finished after ${this.#seconds()}s · ${how}`);
      await this.#log.sync();
    } finally {
      await this.#log.close();
    }
  }

  #write(text: string): Promise<void> {
    const written = this.#last.then(() => this.#append(text));
    this.#last = written.catch(() => {});
    return written;
  }

  async #append(text: string): Promise<void> {
    const entry = entryText(timeOfDay(this.#tools.clock.now()), text);
    const torn = this.#torn;
    this.#torn = true;
    await this.#log.writeFile(torn ? `\n${entry}` : entry);
    this.#torn = false;
    if (!this.#finished) this.#beatLater();
  }

  /** A line now and then while nothing else is written tells readers that it still runs. */
  #beatLater(): void {
    this.#cancelBeat();
    this.#cancelBeat = this.#tools.timer.after(HEARTBEAT_MS, () => {
      this.#beatLater();
      this.#write(`${this.#seconds()}s · still running`).catch((error) => this.#tools.fault(error));
    });
  }

  #seconds(): number {
    return Math.max(0, Math.round((this.#tools.clock.now() - this.#begun.startedAt) / 1000));
  }
}

/**
 * Makes the log under the first free name. Of several runs of a job in one second the later ones get the digits that follow
 * the job's own: so they stand in order, and none is dated otherwise than it was. What job they are of, their metadata says.
 */
async function createLog(bridgeHome: string, start: RunStart, startedAt: EpochMs, header: string): Promise<string> {
  const first = Number.parseInt(start.id, 16);
  for (let next = first; ; next++) {
    const name = runName(startedAt, start.agent, (next >>> 0).toString(16).padStart(8, "0"));
    const runs = join(bridgeHome, "runs");
    const others = [join(runs, `${name}.json`), join(runs, "archive", `${name}.log`)];
    if (others.some(isTaken)) continue;
    if (await createPrivate(join(runs, `${name}.log`), header)) return name;
  }
}

function headerOf({ agent, model, effort, workdir, access, by, continues }: RunStart): string {
  const made = model === undefined ? "" : ` (${model}${effort === undefined ? "" : `, effort ${effort}`})`;
  const after = continues === undefined ? "" : `, continues ${continues}`;
  return oneLine(`${agent}${made} in ${workdir}, access ${access}, by ${by}${after}`);
}

function metadataOf({ model, effort, workdir, access, by, continues, metadata }: RunStart): JsonObject {
  return {
    metadataVersion: VERSION,
    version: VERSION,
    by,
    ...(model !== undefined && { model }),
    ...(effort !== undefined && { effort }),
    access,
    workdir,
    continues: continues ?? null,
    ...metadata,
    // While there is no finish line, whoever finds this process gone knows that none will come.
    host: ourIdentity(),
    writer: WRITER,
  };
}

function existingMetadata(bytes: Buffer | undefined, name: string): JsonObject | undefined {
  const file = `the metadata of ${name}`;
  if (bytes === undefined) return undefined;
  const metadata = asObject(parseOwn(bytes, file));
  if (metadata === undefined) throw damaged(file);
  requireKnownVersion(metadata.metadataVersion, VERSION, file);
  requireKnownVersion(metadata.version, VERSION, file);
  return metadata;
}

function metadataText(metadata: JsonObject): string {
  return `${JSON.stringify(metadata)}\n`;
}

/** The local time of day, as lines of logs begin. */
export function timeOfDay(at: EpochMs): string {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}
