import { isUtf8 } from "node:buffer";
import type { Clock } from "../platform/clock.ts";
import { type FileStamp, type OpenFile, sameStamp } from "../platform/files.ts";
import { asObject, isNestedAtMost, type JsonObject, parseJson } from "../platform/read.ts";
import type { RunDisk } from "./disk.ts";
import { isYoung, type Seen } from "./folder-view.ts";
import { type LogFacts, readLogFacts } from "./log-file.ts";

/** A file of a run. */
export interface Place {
  readonly path: string;
  /** The real path of its folder: what is opened must lie there. */
  readonly root: string;
  readonly archived: boolean;
  readonly number?: number;
}

/** Why a file is not shown, and which. */
export interface Damage {
  readonly path: string;
  readonly reason: string;
}

const METADATA_BYTES = 1024 * 1024;

/** How deep lists and objects may stand in one another in metadata or in the record of a job. */
export const NESTED = 100;

/** What the files of runs hold, each read again only when its stamp has changed. */
export class Contents {
  readonly #logs: Kept<LogFacts>;
  readonly #metadata: Kept<JsonObject>;

  constructor(disk: RunDisk, clock: Clock) {
    this.#logs = new Kept(disk, clock, (file) => ({ value: readLogFacts(file) }), "log");
    this.#metadata = new Kept(disk, clock, readMetadata, "metadata");
  }

  /** What the log at `place`, of the state `stamp`, holds; undefined when it can't be read. */
  log(place: Place, stamp: FileStamp): Promise<LogFacts | undefined> {
    return this.#logs.of(place, stamp);
  }

  /** The metadata in the first of `places` that holds any. */
  async metadata(places: readonly Place[]): Promise<JsonObject | undefined> {
    for (const place of places) {
      const metadata = await this.#metadata.of(place);
      if (metadata !== undefined) return metadata;
    }
    return undefined;
  }

  /** The files that the metadata of `places` was last read from, as they were then; undefined when one was not there. */
  metadataSeen(places: readonly Place[]): readonly Seen[] | undefined {
    const seen: Seen[] = [];
    for (const { path } of places) {
      const entry = this.#metadata.held(path);
      if (entry === undefined) return undefined;
      seen.push({ path, stamp: entry.stamp });
      if (entry.value !== undefined) break;
    }
    return seen;
  }

  /** Whether `metadata(places)`, as it last answered, will answer the same while these files' stamps are equal. */
  isSure(places: readonly Place[]): boolean {
    for (const { path } of places) {
      const entry = this.#metadata.held(path);
      if (entry?.lasting === false) return false;
      if (entry?.value !== undefined) return true;
    }
    return true;
  }

  /** What is known to be damaged among `paths`. */
  damages(paths: ReadonlySet<string>): readonly Damage[] {
    return [...this.#logs.damages, ...this.#metadata.damages].filter(({ path }) => paths.has(path));
  }

  /** Forgets what is not among the `live` files, once that is worth it. */
  trim(live: number): void {
    this.#logs.trim(live);
    this.#metadata.trim(live);
  }
}

interface Entry<T> {
  readonly stamp: FileStamp;
  /** Undefined: it holds none, for that `reason`. Else the reason tells what of it is not shown. */
  readonly value: T | undefined;
  readonly reason?: string;
  /** Equal stamps will mean an equal value. */
  readonly lasting: boolean;
}

/** Whether a file was read and is no such file, rather than could not be read just now. */
export function isDamage(error: unknown): boolean {
  return error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError;
}

/** What is not shown of a file whose text is not all UTF-8; undefined when it is. */
export function flawOf(kind: string, bytes: Uint8Array): string | undefined {
  return isUtf8(bytes) ? undefined : `bytes in a ${kind} that are no text`;
}

/** Why a file of a kind is not shown, by what reading it threw. */
export function damageOf(kind: string, error: unknown): string {
  if (error instanceof RangeError) return `${kind} that is too long`;
  return isDamage(error) ? `${kind} that is damaged` : `${kind} that can't be read`;
}

/** What a file holds, and what of it can't be shown. */
interface Reading<T> {
  readonly value: T;
  readonly reason?: string;
}

class Kept<T> {
  readonly #disk: RunDisk;
  readonly #clock: Clock;
  readonly #read: (file: OpenFile) => Reading<T>;
  readonly #kind: string;
  readonly #entries = new Map<string, Entry<T>>();

  constructor(disk: RunDisk, clock: Clock, read: (file: OpenFile) => Reading<T>, kind: string) {
    this.#disk = disk;
    this.#clock = clock;
    this.#read = read;
    this.#kind = kind;
  }

  async of({ path, root }: Place, stamp = this.#disk.stamp(path)): Promise<T | undefined> {
    if (stamp === undefined) return undefined;
    const held = this.#entries.get(path);
    if (held?.lasting && sameStamp(held.stamp, stamp)) return held.value;
    const now = this.#clock.now();
    try {
      const read = await this.#disk.open(root, path, (file) => ({ stamp: file.stamp, ...this.#read(file) }));
      this.#entries.set(path, { ...read, lasting: !isYoung(read.stamp, now) });
      return read.value;
    } catch (error) {
      // Kept, so that the report names it; one that has gone meanwhile is in no list any more.
      const lasting = isDamage(error) && !isYoung(stamp, now);
      this.#entries.set(path, { stamp, value: undefined, reason: damageOf(this.#kind, error), lasting });
      return undefined;
    }
  }

  /** What was last read there; undefined when nothing was there. */
  held(path: string): Entry<T> | undefined {
    return this.#entries.get(path);
  }

  get damages(): Damage[] {
    return [...this.#entries].flatMap(([path, { reason }]) => (reason === undefined ? [] : [{ path, reason }]));
  }

  trim(live: number): void {
    if (this.#entries.size > 2 * live + 100) this.#entries.clear();
  }
}

/** @throws when it is no JSON object */
function readMetadata(file: OpenFile): Reading<JsonObject> {
  if (file.size > METADATA_BYTES) throw new RangeError("too long for metadata");
  const whole = Buffer.allocUnsafe(file.size);
  const bytes = whole.subarray(0, file.read(whole, 0));
  const metadata = asObject(parseJson(bytes.toString("utf8")));
  if (metadata === undefined || !isNestedAtMost(NESTED, metadata)) throw new TypeError("no JSON object to be shown");
  const reason = flawOf("metadata file", bytes);
  return { value: metadata, ...(reason !== undefined && { reason }) };
}
