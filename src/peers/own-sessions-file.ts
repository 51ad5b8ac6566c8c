import { join } from "node:path";
import type { Clock } from "../platform/clock.ts";
import { type FileStamp, sameStamp, stampOf } from "../platform/files.ts";
import { type LockWait, withLock } from "../platform/lock.ts";
import { writePrivate } from "../platform/private-file.ts";
import { readOwn, removeLeftovers, requireFile } from "../runs/own-json.ts";
import {
  type Change,
  type Document,
  documentOf,
  documentText,
  droppedOf,
  peerRemoved,
  peerSaved,
  RecordReader,
  sessionSaved,
} from "./own-records.ts";
import type { OwnRecords, OwnSessions } from "./own-sessions.ts";

/** The name of the file in our own folder. */
export const SESSIONS_FILE = "sessions.json";

/** What `sessions.json` is kept with. */
export interface OwnSessionsParts {
  /** Our own folder. */
  readonly bridgeHome: string;
  readonly clock: Clock;
  readonly wait?: LockWait;
  /** Told when sessions that ended long ago are no longer kept: how many. */
  dropped?(count: number): void;
}

/** `sessions.json` in our own folder. Opening reads nothing, so it can't fail. */
export function openOwnSessions(parts: OwnSessionsParts): OwnSessions {
  const file = new SessionsFile(parts);
  const writer = new Writer(parts, file);
  return {
    read: () => file.read().records,
    saveSession: (id, fields) => writer.write(sessionSaved(id, fields)),
    savePeer: (peer, instead = []) => writer.write(peerSaved(peer, instead)),
    removePeers: (names, which = () => true) => writer.write(peerRemoved(names, which)),
  };
}

/** A file that was written so shortly before it was read may be written again without a trace in its stamp: ms. */
const YOUNG_MS = 50;

/** The file as it was read or written last. */
interface Held {
  /** Undefined where there was no file. */
  readonly bytes: Buffer | undefined;
  readonly document: Document;
  readonly records: OwnRecords;
  /** What tells without reading that it is the same; undefined while the file is too young for that. */
  readonly stamp?: FileStamp | undefined;
}

/** Reads the file no more often, and of what has changed in it no more, than it must: thousands of sessions may be in it. */
class SessionsFile {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #reader = new RecordReader();
  #held: Held | undefined;

  constructor({ bridgeHome, clock }: OwnSessionsParts) {
    this.#path = join(bridgeHome, SESSIONS_FILE);
    this.#clock = clock;
  }

  /** @throws Failure failed */
  read(): Held {
    requireFile(this.#path);
    const stamp = stampOf(this.#path);
    const held = this.#held;
    if (held?.stamp !== undefined && stamp !== undefined && sameStamp(held.stamp, stamp)) return held;
    const bytes = stamp === undefined ? undefined : readOwn(this.#path);
    const isYoung = stamp !== undefined && this.#clock.now() - Number(stamp.mtimeNs / 1_000_000n) < YOUNG_MS;
    const told = isYoung ? undefined : stamp;
    this.#held = held !== undefined && same(held.bytes, bytes) ? { ...held, stamp: told } : this.#parsed(bytes, told);
    return this.#held;
  }

  /** Writes a changed document. @throws Failure failed · the system's error */
  async write(document: Document): Promise<void> {
    const bytes = Buffer.from(documentText(document));
    await writePrivate(this.#path, bytes);
    this.#held = { bytes, document, records: this.#reader.read(document) };
  }

  #parsed(bytes: Buffer | undefined, stamp: FileStamp | undefined): Held {
    const document = documentOf(bytes, SESSIONS_FILE);
    return { bytes, document, records: this.#reader.read(document), stamp };
  }
}

function same(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b);
}

/** A change that waits for its turn. */
interface Pending {
  readonly change: Change;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/** Writes what is asked for meanwhile in one go: each writing costs the lock and the disk's time. */
class Writer {
  readonly #parts: OwnSessionsParts;
  readonly #file: SessionsFile;
  #pending: Pending[] = [];
  #isWriting = false;

  constructor(parts: OwnSessionsParts, file: SessionsFile) {
    this.#parts = parts;
    this.#file = file;
  }

  write(change: Change): Promise<void> {
    const written = new Promise<void>((done, failed) => this.#pending.push({ change, done, failed }));
    if (!this.#isWriting) void this.#drain();
    return written;
  }

  /** Never fails: whoever asked is told. */
  async #drain(): Promise<void> {
    this.#isWriting = true;
    const { bridgeHome, wait } = this.#parts;
    while (this.#pending.length > 0) {
      let taken: readonly Pending[] = [];
      try {
        await withLock(
          bridgeHome,
          async () => {
            taken = this.#take();
            await removeLeftovers(bridgeHome, /^sessions\.json/);
            const dropped = await apply(this.#file, taken);
            if (dropped > 0) this.#parts.dropped?.(dropped);
          },
          wait,
        );
        for (const { done } of taken) done();
      } catch (error) {
        for (const { failed } of taken.length > 0 ? taken : this.#take()) failed(error);
      }
    }
    this.#isWriting = false;
  }

  #take(): readonly Pending[] {
    const taken = this.#pending;
    this.#pending = [];
    return taken;
  }
}

/**
 * Makes the changes, one after the other; one that can't be made fails by itself. Gives how many sessions are no longer kept.
 * @throws as `SessionsFile`
 */
async function apply(file: SessionsFile, changes: readonly Pending[]): Promise<number> {
  const before = file.read().document;
  let after = before;
  for (const { change, failed } of changes) {
    try {
      after = change(after);
    } catch (error) {
      failed(error);
    }
  }
  if (after !== before) await file.write(after);
  return droppedOf(after.fields) - droppedOf(before.fields);
}
