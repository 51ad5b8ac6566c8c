import type { OwnSessions, SavedSession } from "../peers/own-sessions.ts";
import { errorCode, Failure } from "../platform/failure.ts";
import type { ProcessIdentity } from "../platform/process-identity.ts";
import type { SessionId } from "../transcript/names.ts";
import type { Driven } from "./driven.ts";
import { savedFields } from "./saved.ts";

/** Keeps `sessions.json` up to date with the sessions that one process drives. */
export class SessionSaves {
  readonly #saved: OwnSessions;
  readonly #owner: ProcessIdentity;
  readonly #warn: (message: string) => void;
  readonly #saving = new Map<SessionId, Promise<void>>();
  readonly #unsaved = new Set<SessionId>();

  /** `owner`: this process. `warn` is told what can't be read or written; it may be told it again. */
  constructor(saved: OwnSessions, owner: ProcessIdentity, warn: (message: string) => void) {
    this.#saved = saved;
    this.#owner = owner;
    this.#warn = warn;
  }

  /** What is on disk; a file that can't be read is told, and keeps nobody from the sessions of this process. */
  read(): readonly SavedSession[] {
    try {
      return this.#saved.read().sessions;
    } catch (error) {
      this.#warn(whyNot("read", error));
      return [];
    }
  }

  /** Adds a session that is to be started. @throws Failure conflict, that says what to do */
  async add(session: Driven): Promise<void> {
    try {
      await this.#saved.saveSession(session.id, this.#fields(session));
    } catch (error) {
      throw new Failure("conflict", `the session was not started: ${whyNot("written", error)}`, error);
    }
  }

  /** Saves the session as it is when its turn comes: several changes in a row are one. */
  save(session: Driven): void {
    const { id } = session;
    if (this.#unsaved.has(id)) return;
    this.#unsaved.add(id);
    const saving = this.written(id).then(() => this.#write(session));
    this.#saving.set(id, saving);
    void saving.then(() => {
      if (this.#saving.get(id) === saving) this.#saving.delete(id);
    });
  }

  /** Whether the newest state of the session is on its way to the disk. */
  isSaving(id: SessionId): boolean {
    return this.#saving.has(id);
  }

  /** When all that was to be saved of the session so far is, or is known not to be. Never fails. */
  written(id: SessionId): Promise<void> {
    return this.#saving.get(id) ?? Promise.resolve();
  }

  /** The same of all sessions. */
  async allWritten(): Promise<void> {
    await Promise.all(this.#saving.values());
  }

  async #write(session: Driven): Promise<void> {
    this.#unsaved.delete(session.id);
    try {
      await this.#saved.saveSession(session.id, this.#fields(session));
    } catch (error) {
      this.#warn(whyNot("written", error));
    }
  }

  #fields(session: Driven): Partial<SavedSession> {
    const { loss } = session;
    return {
      ...savedFields(session.describe()),
      ...(session.isLive ? { owner: this.#owner, ...(session.child && { child: session.child }) } : GONE),
      ...(loss !== undefined && { lost: loss }),
    };
  }
}

/** What a session that has ended no longer has. */
const GONE = { owner: undefined, child: undefined };

function whyNot(what: "read" | "written", error: unknown): string {
  if (error instanceof Failure) return error.message;
  return `sessions.json can't be ${what} (${errorCode(error) ?? "unknown error"}): see to agent-bridge's own folder and its disk`;
}
