import { join } from "node:path";
import type { Breather } from "../platform/breather.ts";
import type { Clock, EpochMs } from "../platform/clock.ts";
import { errorCode } from "../platform/failure.ts";
import { type FileStamp, sameStamp } from "../platform/files.ts";
import type { Damage } from "./contents.ts";
import type { Listing, NoFile, RunDisk } from "./disk.ts";

/** A listing that its folder's stamp vouches for. */
export interface Listed extends Listing {
  /** Why the folder can't be listed, in the system's word. */
  readonly problem?: string;
}

/** A file or folder as it was when it was last asked; without a stamp it was not there. */
export interface Seen {
  readonly path: string;
  readonly stamp: FileStamp | undefined;
}

const NOTHING: Listed = { root: "", files: [], others: [] };

/** One folder that is listed again only when its stamp says that names came or went. */
export class FolderView {
  readonly #path: string;
  readonly #disk: RunDisk;
  readonly #clock: Clock;
  #stamp: FileStamp | undefined;
  #isMissing = false;
  #listed: Listed = NOTHING;
  #seen: FileStamp | undefined;

  constructor(path: string, disk: RunDisk, clock: Clock) {
    this.#path = path;
    this.#disk = disk;
    this.#clock = clock;
  }

  /** What is in the folder now: the same object as before while nothing came or went. */
  async look(breather: Breather): Promise<Listed> {
    const stamp = this.#disk.stamp(this.#path);
    this.#seen = stamp;
    if (stamp !== undefined && this.#stamp !== undefined && sameStamp(stamp, this.#stamp)) return this.#listed;
    const now = this.#clock.now();
    // One that was not there is not asked again while it has no stamp.
    const found = stamp === undefined && this.#isMissing ? undefined : await this.#list(stamp === undefined, breather);
    this.#isMissing = found === undefined;
    this.#stamp = stamp === undefined || isYoung(stamp, now) ? undefined : stamp;
    if (found === undefined) this.#listed = NOTHING;
    else if (!sameListing(found, this.#listed)) this.#listed = found;
    return this.#listed;
  }

  /** What the last look stands on. */
  get seen(): Seen {
    return { path: this.#path, stamp: this.#seen };
  }

  /** That it is there and can't be listed, as of the last look. */
  get unlisted(): readonly Damage[] {
    const { problem } = this.#listed;
    return problem === undefined ? [] : [{ path: this.#path, reason: `folder that can't be listed (${problem})` }];
  }

  /** Also one that can't be asked may be there. */
  async #list(unasked: boolean, breather: Breather): Promise<Listed | undefined> {
    try {
      return await this.#disk.list(this.#path, breather);
    } catch (error) {
      const problem = errorCode(error) ?? "unknown error";
      // Where a file stands for a folder above, there is none.
      return unasked && problem === "ENOTDIR" ? undefined : { ...NOTHING, problem };
    }
  }
}

/** What stands in the list of `folder` and is no file to be read, as far as it `isMissed`. */
export function noFilesIn(
  folder: string,
  { others }: Listed,
  isMissed: (noFile: NoFile) => boolean,
): readonly Damage[] {
  return others.filter(isMissed).map(({ name, what }) => ({ path: join(folder, name), reason: `no file: ${what}` }));
}

/** What was written less than so long ago may be written again without its times showing it: ms. */
export const YOUNG_MS = 50;

/** Whether what `stamp` tells of may have changed since within the grain of its times. */
export function isYoung(stamp: FileStamp, now: number): boolean {
  return Math.abs(now - mtimeOf(stamp)) < YOUNG_MS;
}

/** Whether nothing has happened to a file or folder since it was seen. */
export function isAsSeen({ path, stamp }: Seen, disk: RunDisk): boolean {
  const now = disk.stamp(path);
  return now === undefined || stamp === undefined ? now === stamp : sameStamp(now, stamp);
}

/** The furthest from the epoch that a time can be: some file systems hold any number. ms. */
const FURTHEST_MS = 8.64e15;

/** When a file was last written: whole ms since the epoch. */
export function mtimeOf({ mtimeNs }: FileStamp): EpochMs {
  const ms = Number(mtimeNs / 1_000_000n);
  return Math.max(-FURTHEST_MS, Math.min(FURTHEST_MS, ms)) as EpochMs;
}

function sameListing(a: Listed, b: Listed): boolean {
  return a.root === b.root && a.problem === b.problem && sameNames(a.files, b.files) && sameOthers(a.others, b.others);
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, i) => name === b[i]);
}

function sameOthers(a: readonly NoFile[], b: readonly NoFile[]): boolean {
  return a.length === b.length && a.every(({ name, what }, i) => name === b[i]?.name && what === b[i]?.what);
}
