import { join } from "node:path";
import type { Clock } from "../platform/clock.ts";
import { type FileStamp, sameStamp, stampOf } from "../platform/files.ts";
import { type LockWait, withLock } from "../platform/lock.ts";
import { writePrivate } from "../platform/private-file.ts";
import { readOwn, removeLeftovers, requireFile } from "../runs/own-json.ts";
import {
  type Change,
  documentOf,
  documentText,
  peerRemoved,
  peerSaved,
  recordsOf,
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
}

/** `sessions.json` in our own folder. Opening reads nothing, so it can't fail. */
export function openOwnSessions(parts: OwnSessionsParts): OwnSessions {
  const reader = new Reader(parts);
  const writer = new Writer(parts);
  return {
    read: () => reader.read(),
    saveSession: (id, fields) => writer.write(sessionSaved(id, fields)),
    savePeer: (peer, instead = []) => writer.write(peerSaved(peer, instead)),
    removePeers: (names, which = () => true) => writer.write(peerRemoved(names, which)),
  };
}

/** A file that was written so shortly before it was read may be written again without a trace in its stamp: ms. */
const YOUNG_MS = 50;
const NO_RECORDS: OwnRecords = { sessions: [], peers: [] };

class Reader {
  readonly #path: string;
  readonly #clock: Clock;
  #last: { readonly stamp: FileStamp; readonly records: OwnRecords } | undefined;

  constructor({ bridgeHome, clock }: OwnSessionsParts) {
    this.#path = join(bridgeHome, SESSIONS_FILE);
    this.#clock = clock;
  }

  read(): OwnRecords {
    requireFile(this.#path);
    const stamp = stampOf(this.#path);
    if (stamp === undefined) return NO_RECORDS;
    if (this.#last !== undefined && sameStamp(this.#last.stamp, stamp)) return this.#last.records;
    const bytes = readOwn(this.#path);
    const records = bytes === undefined ? NO_RECORDS : recordsOf(documentOf(bytes, SESSIONS_FILE));
    const isYoung = this.#clock.now() - Number(stamp.mtimeNs / 1_000_000n) < YOUNG_MS;
    this.#last = isYoung ? undefined : { stamp, records };
    return records;
  }
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
  #pending: Pending[] = [];
  #isWriting = false;

  constructor(parts: OwnSessionsParts) {
    this.#parts = parts;
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
            await apply(join(bridgeHome, SESSIONS_FILE), taken);
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

/** Makes the changes, one after the other; one that can't be made fails by itself. @throws Failure failed · the system's error */
async function apply(path: string, changes: readonly Pending[]): Promise<void> {
  const bytes = readOwn(path);
  const before = documentOf(bytes, SESSIONS_FILE);
  let after = before;
  for (const { change, failed } of changes) {
    try {
      after = change(after);
    } catch (error) {
      failed(error);
    }
  }
  if (after !== before) await writePrivate(path, documentText(after));
}
