import { readableLine } from "../../../transcript/printable.ts";
import { h } from "../dom.ts";
import { agentName, isKnownAgent } from "./agent-name.ts";
import { folderName } from "./folders.ts";

export { agentName } from "./agent-name.ts";

/** The agent's name, with its colour. */
export function agentBadge(agent: string): HTMLElement {
  const known = isKnownAgent(agent);
  return h("span", { class: "agent", "data-agent": known ? agent : "other" }, readableLine(agentName(agent)));
}

/** The last part of a folder's path, and the whole as its title. */
export function folder(path: string): HTMLElement {
  return h("bdi", { class: "folder", title: readableLine(path) }, readableLine(folderName(path)));
}
