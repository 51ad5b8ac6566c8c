import type { FileStamp } from "../../platform/files.ts";
import type { SessionId } from "../../transcript/names.ts";
import type { ChatRows, Unit } from "./chat-rows.ts";
import type { DatabaseFile } from "./database-file.ts";
import type { FileSession } from "./file-sessions.ts";

/** What one step over a chat's rows gave, and which state of which files it saw. */
export interface ChatRead<T> {
  readonly value: T;
  readonly uses: readonly FileStamp[];
  /** When the newest of these files was written: ms since the epoch. */
  readonly modified: number;
}

/** What was updated in a chat. */
export interface ChatUpdates {
  /** In the order of their times and ids, also those that are taken back. */
  readonly units: readonly Unit[];
  /** The files as they were before it was looked for. */
  readonly uses: readonly FileStamp[];
}

/** A chat that can be read, wherever OpenCode keeps it. */
export interface ChatFile {
  readonly session: SessionId;
  /** Calls `use`, perhaps more than once, with the rows as they are now. @throws Failure not-found when the session is gone */
  read<T>(use: (rows: ChatRows) => T): Promise<ChatRead<T>>;
  /** The rows written at `since` or later. */
  updates(since: number): Promise<ChatUpdates>;
}

/** Where a session lies: in a database, or in the JSON files that were used before. */
export type OpenCodePlace =
  | { readonly kind: "database"; readonly session: SessionId; readonly database: DatabaseFile }
  | { readonly kind: "files"; readonly session: SessionId; readonly file: FileSession };
