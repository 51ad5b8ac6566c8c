import { randomBytes } from "node:crypto";
import type { OwnSessions, SavedSession } from "../peers/own-sessions.ts";
import { Failure } from "../platform/failure.ts";
import type { ProcessIdentity } from "../platform/process-identity.ts";
import { Subscription } from "../platform/subscription.ts";
import { type SessionId, sessionIdOf } from "../transcript/names.ts";
import { AgentSession, type AgentSessionTools } from "./agent-session.ts";
import type { ChildCommand } from "./child.ts";
import type { Driven } from "./driven.ts";
import type { Output } from "./output.ts";
import { ProgramSession, type ProgramTools } from "./program-session.ts";
import { describeSaved, isLive, savedFields } from "./saved.ts";
import type { AcceptedPrompt, Permit, SessionDescriptor, SessionInput, Sessions, StartSession } from "./sessions.ts";

/** What starts an agent, and the name that its sessions go by. */
export interface FoundAgent {
  readonly agent: string;
  readonly command: ChildCommand;
}

/** What a supervisor is made with. */
export interface SupervisorParts {
  readonly saved: OwnSessions;
  /** This process, as `sessions.json` names who drives a session. */
  readonly owner: ProcessIdentity;
  readonly agents: Omit<AgentSessionTools, "changed" | "trouble">;
  readonly programs: Omit<ProgramTools, "changed">;
  /** @throws Failure usage, not-found: there is no such agent, or nothing that starts it */
  findAgent(name: string, how: { readonly cwd: string; readonly permit: Permit }): FoundAgent;
  /** Whether a live session that is not of this supervisor has the name. */
  isNameTaken(name: string): Promise<boolean>;
  /** Whether there is a recording of this id already. */
  isRecorded(id: string): boolean;
  /** Tells what the user should know, without contents. */
  warn(message: string): void;
}

/** Sessions that one process drives at a time. */
const MOST_LIVE = 64;
/** Sessions that have ended and whose output is kept. */
const MOST_ENDED = 64;
/** How long what we started has to end politely: ms. */
const GRACE_MS = 1_500;

/** Starts, drives and ends sessions, and keeps `sessions.json` up to date with them. */
export class Supervisor implements Sessions {
  readonly #parts: SupervisorParts;
  /** Those of this process, also some that have ended. */
  readonly #driven = new Map<SessionId, AgentSession | ProgramSession>();
  readonly #saves = new Map<SessionId, Promise<void>>();
  readonly #unsaved = new Set<SessionId>();
  readonly #readers = new Set<Subscription<undefined>>();
  readonly #told = new Set<string>();
  readonly #names = new Set<string>();
  #closing = false;

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
  }

  async list(): Promise<readonly SessionDescriptor[]> {
    const sessions = new Map<SessionId, SessionDescriptor>();
    for (const saved of this.#savedSessions()) {
      const session = describeSaved(saved);
      if (session !== undefined) sessions.set(session.id, session);
    }
    for (const driven of this.#driven.values()) sessions.set(driven.id, driven.describe());
    return [...sessions.values()].sort((a, b) => b.startedAt - a.startedAt || (a.id < b.id ? -1 : 1));
  }

  async find(idOrName: string): Promise<SessionDescriptor | undefined> {
    const sessions = await this.list();
    const named = sessions.filter(({ name }) => name === idOrName);
    return sessions.find(({ id }) => id === idOrName) ?? named.find(isLive) ?? named[0];
  }

  start(what: StartSession): Promise<SessionDescriptor> {
    return this.#start(what, {});
  }

  async prompt(
    id: SessionId,
    text: string,
    how: { readonly interrupt?: boolean; readonly source?: string } = {},
  ): Promise<AcceptedPrompt> {
    return (await this.#agent(id, "takes no prompts: send it input")).prompt(text, how);
  }

  async cancel(id: SessionId): Promise<void> {
    await (await this.#agent(id, "has no turns to cancel")).cancel();
  }

  async answer(id: SessionId, toolCallId: string, optionId: string): Promise<void> {
    (await this.#agent(id, "asks for no permission")).answer(toolCallId, optionId);
  }

  async restart(id: SessionId): Promise<SessionDescriptor> {
    const before = await this.#known(id);
    if (isLive(before)) await this.stop(id);
    const { kind, agent, argv, cwd, name, model, permit, nativeSessionId } = before;
    const again = {
      kind,
      cwd,
      ...(agent !== undefined && { agent }),
      ...(argv !== undefined && { argv }),
      ...(name !== undefined && { name }),
      ...(model !== undefined && { model }),
      ...(permit !== undefined && { permit }),
    };
    return this.#start(again, { restartedFrom: before.id, resume: nativeSessionId });
  }

  async input(id: SessionId, input: SessionInput): Promise<void> {
    const driven = await this.#ours(id);
    if (!(driven instanceof ProgramSession)) {
      throw new Failure("conflict", `the session ${id} is of an agent: send it prompts instead of input`);
    }
    await driven.input(input);
  }

  async stop(id: SessionId): Promise<SessionDescriptor> {
    const session = await this.#known(id);
    if (!isLive(session)) return session;
    const driven = await this.#ours(id);
    await driven.stop(GRACE_MS);
    await this.#saves.get(id);
    return driven.describe();
  }

  output(id: SessionId): Output | undefined {
    return this.#driven.get(id)?.output;
  }

  changes(signal: AbortSignal): AsyncIterable<void> {
    const reader: Subscription<undefined> = new Subscription(signal, () => void this.#readers.delete(reader));
    if (!reader.ended) this.#readers.add(reader);
    return reader;
  }

  async close(): Promise<void> {
    this.#closing = true;
    const live = [...this.#driven.values()].filter((driven) => driven.isLive);
    await Promise.all(live.map((driven) => driven.stop(GRACE_MS)));
    await Promise.all(this.#saves.values());
  }

  async #start(
    what: StartSession,
    after: { readonly restartedFrom?: SessionId; readonly resume?: string | undefined },
  ): Promise<SessionDescriptor> {
    if (this.#closing) throw new Failure("conflict", "the server is ending");
    if ([...this.#driven.values()].filter((driven) => driven.isLive).length >= MOST_LIVE) {
      throw new Failure("conflict", `${MOST_LIVE} sessions are live, which is the most there may be: stop one first`);
    }
    const release = await this.#reserve(what.name);
    try {
      const id = this.#freeId();
      const driven = this.#made(id, what, after);
      this.#driven.set(id, driven);
      try {
        await this.#parts.saved.saveSession(id, this.#toSave(driven));
      } catch (error) {
        this.#driven.delete(id);
        throw error;
      }
      this.#changed(driven);
      await driven.start();
      await this.#saves.get(id);
      return driven.describe();
    } finally {
      release();
    }
  }

  #made(
    id: SessionId,
    what: StartSession,
    after: { readonly restartedFrom?: SessionId; readonly resume?: string | undefined },
  ): AgentSession | ProgramSession {
    const { cwd, name, model, permit = "deny" } = what;
    const changed = (session: Driven): void => this.#changed(session);
    if (what.kind !== "agent") {
      const { kind, argv = [], columns = 80, rows = 24 } = what;
      if (argv.length === 0) throw new Failure("bad-request", `a ${kind} session needs the words of its command: argv`);
      const { restartedFrom } = after;
      return new ProgramSession(
        { id, kind, argv, cwd, name, restartedFrom, columns, rows },
        {
          ...this.#parts.programs,
          changed,
        },
      );
    }
    const { agent, command } = this.#parts.findAgent(what.agent ?? "", { cwd, permit });
    return new AgentSession(
      { id, agent, command, cwd, name, model, permit, ...after },
      {
        ...this.#parts.agents,
        changed,
        trouble: (session, text) => this.#warnOnce(`the agent of ${session.id} sent what was passed over: ${text}`),
      },
    );
  }

  /** Keeps others from taking the name meanwhile. @throws Failure conflict: a live session has it */
  async #reserve(name: string | undefined): Promise<() => void> {
    if (name === undefined) return () => {};
    const taken = new Failure("conflict", `a live session is called ${name} already: choose another name`);
    if (this.#names.has(name)) throw taken;
    this.#names.add(name);
    const release = (): void => void this.#names.delete(name);
    const held = (await this.list()).some((session) => session.name === name && isLive(session));
    if (!held && !(await this.#parts.isNameTaken(name))) return release;
    release();
    throw taken;
  }

  #freeId(): SessionId {
    const saved = new Set(this.#savedSessions().map(({ id }) => id.slice(-8)));
    for (;;) {
      const digits = randomBytes(4).toString("hex");
      const id = sessionIdOf(`sess_${digits}`);
      if (id !== undefined && !saved.has(digits) && !this.#driven.has(id) && !this.#parts.isRecorded(id)) return id;
    }
  }

  /** @throws Failure not-found */
  async #known(id: SessionId): Promise<SessionDescriptor> {
    const session = (await this.list()).find((each) => each.id === id);
    if (session === undefined) throw new Failure("not-found", "there is no such session");
    return session;
  }

  /** The session, if it is live and driven by this process. @throws Failure not-found · conflict */
  async #ours(id: SessionId): Promise<AgentSession | ProgramSession> {
    const driven = this.#driven.get(id);
    if (driven?.isLive) return driven;
    const session = await this.#known(id);
    if (!isLive(session)) throw new Failure("conflict", `the session ${id} has ended (${session.status}): restart it`);
    throw new Failure("conflict", `the session ${id} is driven by another process: it can only be read here`);
  }

  async #agent(id: SessionId, otherwise: string): Promise<AgentSession> {
    const driven = await this.#ours(id);
    if (driven instanceof AgentSession) return driven;
    throw new Failure("conflict", `the session ${id} is no agent's, and ${otherwise}`);
  }

  /** What is on disk; a file that can't be read is told by `doctor`, and keeps nobody from the sessions of this process. */
  #savedSessions(): readonly SavedSession[] {
    try {
      return this.#parts.saved.read().sessions;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.#warnOnce(error.message);
      return [];
    }
  }

  #toSave(driven: AgentSession | ProgramSession): Partial<SavedSession> {
    const loss = driven instanceof AgentSession ? driven.loss : undefined;
    return {
      ...savedFields(driven.describe()),
      ...(driven.isLive ? { owner: this.#parts.owner, ...(driven.child && { child: driven.child }) } : GONE),
      ...(loss !== undefined && { lost: loss }),
    };
  }

  #changed(driven: Driven): void {
    this.#save(driven.id);
    this.#forgetOldest();
    for (const reader of this.#readers) reader.tell(undefined);
  }

  /** Saves the session as it is when its turn comes: several changes in a row are one. */
  #save(id: SessionId): void {
    if (this.#unsaved.has(id)) return;
    this.#unsaved.add(id);
    const before = this.#saves.get(id) ?? Promise.resolve();
    const saving = before.then(async () => {
      this.#unsaved.delete(id);
      const driven = this.#driven.get(id);
      if (driven === undefined) return;
      try {
        await this.#parts.saved.saveSession(id, this.#toSave(driven));
      } catch (error) {
        this.#warnOnce(`sessions.json could not be written: ${error instanceof Error ? error.message : String(error)}`);
      }
    });
    this.#saves.set(id, saving);
    void saving.finally(() => {
      if (this.#saves.get(id) === saving) this.#saves.delete(id);
    });
  }

  #forgetOldest(): void {
    const ended = [...this.#driven.values()].filter((driven) => !driven.isLive);
    for (const { id } of ended.slice(0, -MOST_ENDED)) {
      if (!this.#saves.has(id)) this.#driven.delete(id);
    }
  }

  #warnOnce(message: string): void {
    if (this.#told.has(message) || this.#told.size > 1_000) return;
    this.#told.add(message);
    this.#parts.warn(message);
  }
}

/** What a session that has ended no longer has. */
const GONE = { owner: undefined, child: undefined };
