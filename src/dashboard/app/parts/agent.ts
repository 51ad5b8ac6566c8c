import { h } from "../dom.ts";

const NAMES: { readonly [agent: string]: string } = {
  claude: "Claude Code",
  codex: "Codex",
  opencode: "OpenCode",
  hermes: "Hermes",
  daemon: "Recorded",
};

/** What people call an agent. */
export function agentName(agent: string): string {
  return NAMES[agent] ?? agent;
}

/** The agent's name, with its colour. */
export function agentBadge(agent: string): HTMLElement {
  const known = NAMES[agent] !== undefined;
  return h("span", { class: "agent", "data-agent": known ? agent : "other" }, agentName(agent));
}

/** The last part of a folder's path, and the whole as its title. */
export function folder(path: string): HTMLElement {
  const name =
    path
      .replace(/[/\\]+$/, "")
      .split(/[/\\]/)
      .at(-1) || path;
  return h("bdi", { class: "folder", title: path }, name);
}
