import { errorCode } from "./failure.ts";
import { type FileStamp, sameStamp } from "./files.ts";

/** Takes the name that changed, or undefined when it is not known. */
export type Told = (name: string | undefined) => void;

/**
 * The system's watch of one path: calls `told` for each change, `failed` when it ends by itself.
 * @throws the system's error: no such path, or no watching (ENOSPC, EMFILE, ENOSYS, …)
 */
export type SystemWatch = (path: string, told: Told, failed: () => void) => { close(): void };

/** What a watched path asks of the system; passed in, so that tests can make it fail. */
export interface WatchSystem {
  readonly watch: SystemWatch;
  readonly stamp: (path: string) => FileStamp | undefined;
  /** How long the system may take to tell a change that a stat has shown: ms. */
  readonly graceMs: number;
}

/**
 * A path and everyone who wants to know of its changes, with one system watch for all of them.
 *
 * A file is watched itself and not through its folder: a folder tells every append to every file in it, and the readers of
 * one chat would wake for each. So a file that is renamed over or deleted takes its watch along, and after every note
 * of the system a stat tells whether the path still is the file that is watched; if not, the path is watched anew.
 */
export class WatchedPath {
  readonly #path: string;
  readonly #system: WatchSystem;
  readonly #readers = new Set<Told>();
  #watch: { close(): void } | undefined;
  /** Asked and not watched: the system can't, or was found to have missed a change. Else only while there is no file. */
  #polled = false;
  #seen: FileStamp | undefined;
  /** How often the system has told something. */
  #notes = 0;
  #checkDue = false;
  /** What the system has told in this turn of the event loop. */
  readonly #told = new Set<string | undefined>();
  #suspected = false;

  constructor(path: string, system: WatchSystem) {
    this.#path = path;
    this.#system = system;
    this.#arm();
  }

  add(reader: Told): void {
    this.#readers.add(reader);
  }

  /** Takes a reader off; whether none is left. */
  remove(reader: Told): boolean {
    this.#readers.delete(reader);
    return this.#readers.size === 0;
  }

  close(): void {
    this.#watch?.close();
    this.#watch = undefined;
  }

  /** Whether the system watches it, so that `backstop` is enough; else it wants `poll`. */
  get watched(): boolean {
    return this.#watch !== undefined;
  }

  /** Asks whether something changed. */
  poll(): void {
    const now = this.#system.stamp(this.#path);
    if (this.#seen === now || (this.#seen && now && sameStamp(this.#seen, now))) return;
    this.#seen = now;
    if (!this.#polled) this.#arm();
    this.#tell(undefined);
  }

  /** Asks whether something changed that the system has not told; if so, it is not relied on for this path again. */
  backstop(): void {
    if (this.#checkDue || this.#suspected) return;
    const now = this.#system.stamp(this.#path);
    if (this.#seen && now && sameStamp(this.#seen, now)) return;
    this.#tell(undefined);
    // The note may be on its way: timers run before the system's notes are fetched.
    const notes = this.#notes;
    this.#suspected = true;
    setTimeout(() => {
      this.#suspected = false;
      if (this.#watch === undefined || this.#notes !== notes) return;
      this.close();
      // Where nothing is left, a folder above was moved, which no watch tells: what comes there next is watched again.
      this.#polled = this.#system.stamp(this.#path) !== undefined;
      this.poll();
    }, this.#system.graceMs).unref();
  }

  /** Watches what stands at the path now. What was changed meanwhile is for the caller to tell. */
  #arm(): void {
    this.close();
    this.#seen = this.#system.stamp(this.#path);
    if (this.#seen === undefined) return;
    try {
      this.#watch = this.#newWatch();
    } catch (error) {
      this.#polled = errorCode(error) !== "ENOENT";
      return;
    }
    // Replaced just before it was watched, the watch would be the new file's, just behind, the old one's: once more, then.
    const now = this.#system.stamp(this.#path);
    if (now === undefined || !sameFile(now, this.#seen)) this.#check();
    else this.#seen = now;
  }

  #newWatch(): { close(): void } {
    const watch = this.#system.watch(
      this.#path,
      (name) => {
        if (this.#watch === watch) this.#note(name);
      },
      () => {
        if (this.#watch !== watch) return;
        this.close();
        this.#polled = true;
        this.#tell(undefined);
      },
    );
    return watch;
  }

  /**
   * Readers are told when all notes at hand have been fetched: the system fetches them until there are none, so a reader
   * that reads at each of them would, beside a busy writer, keep everyone else waiting.
   */
  #note(name: string | undefined): void {
    this.#notes++;
    this.#told.add(name);
    this.#check();
  }

  /** In this turn of the event loop, once, however many notes came: tells them, and whether the path still is what is watched. */
  #check(): void {
    if (this.#checkDue) return;
    this.#checkDue = true;
    setImmediate(() => {
      this.#checkDue = false;
      const told = [...this.#told];
      this.#told.clear();
      for (const name of told) this.#tell(name);
      if (this.#watch === undefined) return;
      const now = this.#system.stamp(this.#path);
      const same = now !== undefined && this.#seen !== undefined && sameFile(now, this.#seen);
      this.#seen = now;
      if (same) return;
      this.#arm();
      this.#tell(undefined);
    });
  }

  #tell(name: string | undefined): void {
    for (const reader of this.#readers) reader(name);
  }
}

function sameFile(a: FileStamp, b: FileStamp): boolean {
  return a.ino === b.ino && a.dev === b.dev;
}
