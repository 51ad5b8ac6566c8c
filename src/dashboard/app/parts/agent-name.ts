const NAMES: { readonly [agent: string]: string } = {
  claude: "Claude Code",
  codex: "Codex",
  opencode: "OpenCode",
  hermes: "Hermes",
  daemon: "Recorded",
};

/** What people call an agent. */
export function agentName(agent: string): string {
  return isKnownAgent(agent) ? (NAMES[agent] ?? agent) : agent;
}

/** Whether `agent` has a name, and a colour, of its own. */
export function isKnownAgent(agent: string): boolean {
  return Object.hasOwn(NAMES, agent);
}
