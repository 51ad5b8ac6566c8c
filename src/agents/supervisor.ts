import { randomBytes } from "node:crypto";
import type { OwnSessions } from "../peers/own-sessions.ts";
import { Failure } from "../platform/failure.ts";
import { merged } from "../platform/merge.ts";
import type { ProcessIdentity } from "../platform/process-identity.ts";
import { Subscription } from "../platform/subscription.ts";
import { aborted, within } from "../platform/timer.ts";
import { type SessionId, sessionIdOf } from "../transcript/names.ts";
import { AgentSession } from "./agent-session.ts";
import type { Driven } from "./driven.ts";
import { checkStart, type GoesOn, makeSession, type SessionParts } from "./make-session.ts";
import type { Output } from "./output.ts";
import { ProgramSession } from "./program-session.ts";
import { describeSaved, isLive } from "./saved.ts";
import { SessionSaves } from "./session-saves.ts";
import type { AcceptedPrompt, SessionDescriptor, SessionInput, Sessions, StartSession } from "./sessions.ts";

/** What a supervisor is made with. */
export interface SupervisorParts extends SessionParts {
  readonly saved: OwnSessions;
  /** This process, as `sessions.json` names who drives a session. */
  readonly owner: ProcessIdentity;
  /** Whether a live session that is not of this supervisor has the name. */
  isNameTaken(name: string): Promise<boolean>;
  /** Whether there is a recording of this id already. */
  isRecorded(id: string): boolean;
  /** How long what is kept of sessions may take to be written in the end: ms. A server has little time. */
  readonly patienceMs?: number;
  /** Yields when another process may have changed what is saved; ends with the signal. Where nobody follows, there is none. */
  othersChange?(signal: AbortSignal): AsyncIterable<void>;
  /** Tells what the user should know, without contents. */
  warn(message: string): void;
}

/** Sessions that one process drives at a time. */
const MOST_LIVE = 64;
/** Sessions that have ended and whose output is kept. */
const MOST_ENDED = 64;
/** How long what is kept of sessions may take to be written in the end, while others write too: ms. */
const LAST_WRITES_MS = 1_800;
/** How long what we started has to end politely: ms. */
const GRACE_MS = 1_500;

/** Starts, drives and ends sessions, and keeps `sessions.json` up to date with them. */
export class Supervisor implements Sessions {
  readonly #parts: SupervisorParts;
  /** Those of this process, also some that have ended. */
  readonly #driven = new Map<SessionId, AgentSession | ProgramSession>();
  readonly #saves: SessionSaves;
  readonly #readers = new Set<Subscription<undefined>>();
  readonly #told = new Set<string>();
  /** The names of those that are being started. */
  readonly #names = new Set<string>();
  readonly #restarting = new Set<SessionId>();
  /** Those of which nothing runs yet. */
  readonly #adding = new Set<Driven>();
  #closing = false;

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
    this.#saves = new SessionSaves(parts.saved, parts.owner, (message) => this.#warnOnce(message));
  }

  async list(): Promise<readonly SessionDescriptor[]> {
    const sessions = new Map<SessionId, SessionDescriptor>();
    for (const saved of this.#saves.read()) {
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

  async start(what: StartSession): Promise<SessionDescriptor> {
    this.#requireRoom();
    return this.#named(what.name, undefined, () => this.#begin(what, {}));
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
    if (this.#restarting.has(id)) throw new Failure("conflict", `the session ${id} is being restarted already`);
    this.#restarting.add(id);
    try {
      return await this.#restart(id);
    } finally {
      this.#restarting.delete(id);
    }
  }

  /** A live one is ended only when nothing that can be known speaks against another. */
  async #restart(id: SessionId): Promise<SessionDescriptor> {
    const before = await this.#known(id);
    if (isLive(before)) await this.#ours(id);
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
    checkStart(again, this.#parts);
    this.#requireRoom(id);
    return this.#named(name, id, async () => {
      if (isLive(before)) await this.stop(id);
      return this.#begin(again, { restartedFrom: before.id, resume: nativeSessionId });
    });
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
    await this.#saves.written(id);
    return driven.describe();
  }

  output(id: SessionId): Output | undefined {
    return this.#driven.get(id)?.output;
  }

  changes(signal: AbortSignal): AsyncIterable<void> {
    const reader: Subscription<undefined> = new Subscription(signal, () => void this.#readers.delete(reader));
    if (!reader.ended) this.#readers.add(reader);
    const others = this.#parts.othersChange?.(signal);
    return others === undefined ? reader : merged<void>([reader, others]);
  }

  async close(leave?: AbortSignal): Promise<void> {
    this.#closing = true;
    const live = [...this.#driven.values()].filter((driven) => driven.isLive && !this.#adding.has(driven));
    await Promise.all(live.map((driven) => driven.stop(GRACE_MS)));
    const logs = [...this.#driven.values()].map((driven: Driven) => driven.logged);
    const { agents, patienceMs = LAST_WRITES_MS } = this.#parts;
    const written = within(agents.timer, patienceMs, Promise.all([...logs, this.#saves.allWritten()]));
    await (leave === undefined ? written : Promise.race([written, aborted(leave)]));
  }

  /** Does `begin` while nobody else can take the name. @throws Failure conflict: a live session other than `except` has it */
  async #named(
    name: string | undefined,
    except: SessionId | undefined,
    begin: () => Promise<SessionDescriptor>,
  ): Promise<SessionDescriptor> {
    const release = await this.#reserve(name, except);
    try {
      return await begin();
    } finally {
      release();
    }
  }

  async #begin(what: StartSession, after: GoesOn): Promise<SessionDescriptor> {
    this.#requireRoom();
    const driven = this.#made(this.#freeId(), what, after);
    this.#driven.set(driven.id, driven);
    await this.#add(driven);
    this.#changed(driven);
    // Whoever closes did not wait for it.
    if (this.#closing) void driven.stop(0);
    try {
      await driven.start();
    } finally {
      await this.#saves.written(driven.id);
    }
    return driven.describe();
  }

  /** Has it stand in `sessions.json` before anything of it runs. @throws Failure failed: then it is no session */
  async #add(driven: AgentSession | ProgramSession): Promise<void> {
    this.#adding.add(driven);
    try {
      await this.#saves.add(driven);
    } catch (error) {
      this.#driven.delete(driven.id);
      // Someone may wait for its end already.
      driven.abandon();
      throw error;
    } finally {
      this.#adding.delete(driven);
    }
  }

  /** `instead`: the session in whose place it is. @throws Failure conflict: no session can be started now */
  #requireRoom(instead?: SessionId): void {
    if (this.#closing) throw new Failure("conflict", "the server is ending");
    const live = [...this.#driven.values()].filter((driven) => driven.isLive && driven.id !== instead);
    if (live.length < MOST_LIVE) return;
    throw new Failure("conflict", `${MOST_LIVE} sessions are live, which is the most there may be: stop one first`);
  }

  #made(id: SessionId, what: StartSession, after: GoesOn): AgentSession | ProgramSession {
    const session: AgentSession | ProgramSession = makeSession(id, what, after, this.#parts, {
      changed: () => this.#changed(session),
      trouble: (text) => this.#warnOnce(`the agent of ${id} sent what was passed over: ${text}`),
    });
    return session;
  }

  /** Keeps others from taking the name meanwhile. @throws Failure conflict: a live session has it */
  async #reserve(name: string | undefined, except: SessionId | undefined): Promise<() => void> {
    if (name === undefined) return () => {};
    const taken = new Failure("conflict", `a live session is called ${name} already: choose another name`);
    if (this.#names.has(name)) throw taken;
    this.#names.add(name);
    const release = (): void => void this.#names.delete(name);
    const sessions = await this.list();
    // An id goes before a name, so under that name another session would be found.
    if (sessions.some(({ id }) => id === name) || this.#parts.isRecorded(name)) {
      release();
      throw new Failure("conflict", "the name is the id of another session: choose another name");
    }
    const held = sessions.some((session) => session.name === name && session.id !== except && isLive(session));
    if (!held && !(await this.#parts.isNameTaken(name))) return release;
    release();
    throw taken;
  }

  #freeId(): SessionId {
    const saved = new Set(this.#saves.read().map(({ id }) => id.slice(-8)));
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

  #changed(driven: Driven): void {
    this.#saves.save(driven);
    this.#forgetOldest();
    for (const reader of this.#readers) reader.tell(undefined);
  }

  #forgetOldest(): void {
    const ended = [...this.#driven.values()].filter((driven) => !driven.isLive);
    for (const { id } of ended.slice(0, -MOST_ENDED)) {
      if (!this.#saves.isSaving(id)) this.#driven.delete(id);
    }
  }

  #warnOnce(message: string): void {
    if (this.#told.has(message) || this.#told.size > 1_000) return;
    this.#told.add(message);
    this.#parts.warn(message);
  }
}
