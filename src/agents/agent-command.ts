import { isAbsolute, join } from "node:path";
import { closest } from "../platform/closest.ts";
import type { AgentCommand } from "../platform/config.ts";
import type { Environment } from "../platform/environment.ts";
import { findExecutable, isExecutable } from "../platform/executable.ts";
import { Failure } from "../platform/failure.ts";
import { clip } from "../transcript/clip.ts";
import { printableLine } from "../transcript/printable.ts";
import { geminiArguments } from "./gemini-version.ts";

/** Where agents are looked for: what `config.json` sets, and the machine. */
export interface AgentSources {
  readonly agents: ReadonlyMap<string, AgentCommand>;
  readonly environment: Environment;
}

/** How an agent is started. */
export interface FoundAgent extends AgentCommand {
  /** Its name in sessions, jobs and recordings: `claude`, also when it was asked for as `claude-code`. */
  readonly agent: string;
  /** The variables by which it is told to ask before it changes anything, where that is no mode of its sessions. */
  readonly asking?: { readonly [name: string]: string };
}

/** An agent that can be asked for. */
export interface KnownAgent {
  readonly name: string;
  readonly isInstalled: boolean;
  /** What to do when it is not: a phrase for a person. */
  readonly remedy: string;
}

/** A program that speaks ACP, and what it must be told for that. */
interface Program {
  readonly name: string;
  readonly args: (path: string) => readonly string[];
}

interface DefaultAgent {
  /** The first that is installed is taken. */
  readonly programs: readonly Program[];
  readonly install: string;
  readonly asking?: { readonly [name: string]: string };
}

/** OpenCode does everything unasked until its configuration says otherwise, and its modes are about other things. */
const OPENCODE_ASKS = { edit: "ask", bash: "ask", webfetch: "ask", websearch: "ask" };

const program = (name: string, ...args: string[]): Program => ({ name, args: () => args });

const DEFAULTS: ReadonlyMap<string, DefaultAgent> = new Map([
  [
    "claude",
    {
      programs: [program("claude-agent-acp"), program("claude-code-acp")],
      install: "npm install -g @agentclientprotocol/claude-agent-acp",
    },
  ],
  ["codex", { programs: [program("codex-acp")], install: "npm install -g @agentclientprotocol/codex-acp" }],
  [
    "opencode",
    {
      programs: [program("opencode", "acp")],
      install: "npm install -g opencode-ai",
      asking: { OPENCODE_PERMISSION: JSON.stringify(OPENCODE_ASKS) },
    },
  ],
  [
    "hermes",
    {
      programs: [program("hermes", "acp"), program("hermes-acp")],
      install: "install Hermes Agent with its acp extra (pip install 'hermes-agent[acp]')",
    },
  ],
  ["gemini", { programs: [{ name: "gemini", args: geminiArguments }], install: "npm install -g @google/gemini-cli" }],
  // Mastra's agent in the terminal speaks ACP since its version 0.25.
  ["mastra-agent", { programs: [program("mastracode", "--acp")], install: "npm install -g mastracode" }],
]);

const ALIASES: ReadonlyMap<string, string> = new Map([["claude-code", "claude"]]);

/**
 * How the agent `name` is started: as `config.json` says, else by a program that is found on the PATH.
 * @throws Failure not-found: it is not installed; the message says what to install · usage: no such agent
 */
export function agentCommand(name: string, sources: AgentSources): FoundAgent {
  const agent = ALIASES.get(name) ?? name;
  const configured = configuredAs(agent, sources);
  const known = DEFAULTS.get(agent);
  const asking = known?.asking && { asking: known.asking };
  if (configured !== undefined) return { ...fromConfig(...configured, sources.environment), agent, ...asking };
  if (known === undefined) throw unknownAgent(name, sources);
  const found = installed(known, sources.environment);
  if (found !== undefined) return { ...found, agent, ...asking };
  const programs = known.programs.map((each) => each.name).join(" or ");
  throw new Failure(
    "not-found",
    `no ACP command for ${agent} (${programs}) was found on the PATH: ${known.install}, or set agents.${agent} in config.json`,
  );
}

/** The agents that can be asked for, those of `config.json` last, and whether each is installed. */
export function knownAgents(sources: AgentSources): readonly KnownAgent[] {
  const others = [...sources.agents.keys()].filter((name) => !DEFAULTS.has(name) && !ALIASES.has(name));
  return [...DEFAULTS.keys(), ...others].map((name) => {
    const key = configuredAs(name, sources)?.[0];
    const remedy = key === undefined ? (DEFAULTS.get(name)?.install ?? "") : `see to agents.${key} in config.json`;
    return { name, isInstalled: isInstalled(name, sources), remedy };
  });
}

function isInstalled(name: string, sources: AgentSources): boolean {
  try {
    agentCommand(name, sources);
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

/** What `config.json` sets for `agent`, and the key under which it does. */
function configuredAs(agent: string, { agents }: AgentSources): [string, AgentCommand] | undefined {
  const keys = [agent, ...[...ALIASES].filter(([, meant]) => meant === agent).map(([alias]) => alias)];
  for (const key of keys) {
    const command = agents.get(key);
    if (command !== undefined) return [key, command];
  }
  return undefined;
}

function fromConfig(key: string, { command, args, env }: AgentCommand, environment: Environment): AgentCommand {
  const path = command.startsWith("~/") ? join(environment.home, command.slice(2)) : command;
  if (/[/\\]/.test(path) && !isAbsolute(path)) {
    throw new Failure(
      "usage",
      `agents.${key}.command in config.json must be an absolute path, or the name of a program on the PATH`,
    );
  }
  const found = isAbsolute(path) ? (isExecutable(path) ? path : undefined) : findExecutable(path, environment);
  if (found !== undefined) return { command: found, args, env };
  throw new Failure(
    "not-found",
    `agents.${key}.command in config.json is no program that can be run: install it, or correct it`,
  );
}

function installed({ programs }: DefaultAgent, environment: Environment): AgentCommand | undefined {
  for (const { name, args } of programs) {
    const path = findExecutable(name, environment);
    if (path !== undefined) return { command: path, args: args(path), env: {} };
  }
  return undefined;
}

function unknownAgent(name: string, sources: AgentSources): Failure {
  const names = knownAgents(sources).map((known) => known.name);
  const meant = closest(name, [...names, ...ALIASES.keys()]);
  const hint = meant === undefined ? "" : `; did you mean ${meant}?`;
  return new Failure(
    "usage",
    `no agent is called "${clip(printableLine(name), 100).text}"${hint} (known are ${names.join(", ")}; agents.<name> in config.json sets others)`,
  );
}
