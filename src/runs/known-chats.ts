import type { EpochMs } from "../platform/clock.ts";
import type { RunDisk } from "./disk.ts";
import { isAsSeen, mtimeOf, type Seen, YOUNG_MS } from "./folder-view.ts";

/** The chats of runs and jobs that were found since something last changed, each with what tells of it. */
export class KnownChats {
  readonly #disk: RunDisk;
  readonly #chats = new Map<string, { readonly chat: string; readonly seen: readonly Seen[] }>();

  constructor(disk: RunDisk) {
    this.#disk = disk;
  }

  /** The chat noted under `key`; undefined when it may be another by now. One stat for each file and folder that tells. */
  now(key: string): string | undefined {
    const found = this.#chats.get(key);
    if (found === undefined) return undefined;
    if (found.seen.every((seen) => isAsSeen(seen, this.#disk))) return found.chat;
    this.#chats.delete(key);
    return undefined;
  }

  /** Notes the chat that was found at or after `asked`, unless something that was `seen` for it had just been written. */
  note(key: string, chat: string, asked: EpochMs, seen: readonly Seen[]): void {
    // What was written a moment before may have been written again within the grain of its times.
    const isOld = ({ stamp }: Seen): boolean => stamp === undefined || asked - mtimeOf(stamp) >= YOUNG_MS;
    if (seen.every(isOld)) this.#chats.set(key, { chat, seen });
    else this.#chats.delete(key);
  }

  /** Forgets what was noted under `key`. */
  delete(key: string): void {
    this.#chats.delete(key);
  }

  /** Forgets all: something has changed. */
  clear(): void {
    this.#chats.clear();
  }
}
