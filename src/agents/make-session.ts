import { Failure } from "../platform/failure.ts";
import type { SessionId } from "../transcript/names.ts";
import type { AgentSessionTools } from "./agent-parts.ts";
import { AgentSession } from "./agent-session.ts";
import type { ChildCommand } from "./child.ts";
import { ProgramSession, type ProgramTools } from "./program-session.ts";
import type { Permit, StartSession } from "./sessions.ts";
import { checkCommand } from "./start-failure.ts";

/** What starts an agent, and the name that its sessions go by. */
export interface FoundAgent {
  readonly agent: string;
  readonly command: ChildCommand;
}

/** What sessions are made with. */
export interface SessionParts {
  readonly agents: Omit<AgentSessionTools, "changed" | "trouble">;
  readonly programs: Omit<ProgramTools, "changed">;
  /** @throws Failure usage, not-found: there is no such agent, or nothing that starts it */
  findAgent(name: string, how: { readonly cwd: string; readonly permit: Permit }): FoundAgent;
}

/** The session that another goes on with. */
export interface GoesOn {
  readonly restartedFrom?: SessionId;
  /** The id of that one in the agent's own store. */
  readonly resume?: string | undefined;
}

/** Who hears of a session. */
export interface SessionListener {
  /** It says something else of itself. */
  changed(): void;
  /** The agent sent what was passed over. */
  trouble(what: string): void;
}

/** A session that is still to be started. @throws Failure bad-request: no words of a command · as `findAgent` */
export function makeSession(
  id: SessionId,
  what: StartSession,
  after: GoesOn,
  parts: SessionParts,
  listener: SessionListener,
): AgentSession | ProgramSession {
  const { cwd, name, model, permit = "deny" } = what;
  if (what.kind === "agent") {
    const { agent, command } = parts.findAgent(what.agent ?? "", { cwd, permit });
    return new AgentSession(
      { id, agent, command, cwd, name, model, permit, ...after },
      { ...parts.agents, ...listener },
    );
  }
  const { kind, argv = [], columns = 80, rows = 24 } = what;
  if (argv.length === 0) throw new Failure("bad-request", `a ${kind} session needs the words of its command: argv`);
  const { restartedFrom } = after;
  return new ProgramSession(
    { id, kind, argv, cwd, name, restartedFrom, columns, rows },
    { ...parts.programs, changed: () => listener.changed() },
  );
}

/** Refuses what can be told before a session is started. @throws Failure bad-request: its folder or program · as `findAgent` */
export function checkStart(what: StartSession, { findAgent, programs }: SessionParts): void {
  const { kind, agent = "", argv = [], cwd, permit = "deny" } = what;
  if (kind === "agent") checkCommand(findAgent(agent, { cwd, permit }).command);
  else programs.check({ argv, cwd });
}
