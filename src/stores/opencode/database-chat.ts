import { Failure } from "../../platform/failure.ts";
import type { SessionId } from "../../transcript/names.ts";
import { type ChatRows, type ChatSource, revertOf } from "./chat-rows.ts";
import type { DatabaseFile } from "./database-file.ts";
import { MessageRows } from "./message-rows.ts";
import { PartRows } from "./part-rows.ts";
import type { ChatFile, ChatRead, ChatUpdates } from "./place.ts";
import type { Problems } from "./problems.ts";
import { isSecondGeneration } from "./tables.ts";
import type { UpdateScans } from "./update-scans.ts";

/** A chat in a database. */
export class DatabaseChat implements ChatFile {
  readonly session: SessionId;
  readonly #database: DatabaseFile;
  readonly #scans: UpdateScans;
  readonly #problems: Problems;

  constructor(database: DatabaseFile, session: SessionId, scans: UpdateScans, problems: Problems) {
    this.#database = database;
    this.session = session;
    this.#scans = scans;
    this.#problems = problems;
  }

  async read<T>(use: (rows: ChatRows) => T): Promise<ChatRead<T>> {
    const { value, uses, state } = await this.#database.read((database, tables) =>
      use(rowsOf({ database, tables, session: this.session, problems: this.#problems })),
    );
    return { value, uses, modified: state.modified };
  }

  updates(since: number): Promise<ChatUpdates> {
    return this.#scans.updates(this.#database, this.session, since);
  }
}

function rowsOf(source: ChatSource): ChatRows {
  const { database, tables, session } = source;
  const revert = revertOf(source);
  if (revert === false) throw new Failure("not-found", "no such transcript");
  if (isSecondGeneration(database, tables, session)) return new MessageRows(source, revert);
  if (tables.v1) return new PartRows(source, revert);
  if (tables.v2) return new MessageRows(source, revert);
  throw new Failure("unreadable", "this OpenCode database has no messages in a form that is known");
}
