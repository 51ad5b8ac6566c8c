import { serveMcp } from "../../mcp/server.ts";
import { AGENT_TOOLS } from "../../mcp/tools/agents.ts";
import { agentExport } from "../../mcp/tools/export.ts";
import { listSessions } from "../../mcp/tools/list-sessions.ts";
import { listSubagents } from "../../mcp/tools/list-subagents.ts";
import { join, listPeers } from "../../mcp/tools/peers.ts";
import { readSession } from "../../mcp/tools/read-session.ts";
import { Failure } from "../../platform/failure.ts";
import { choice, flag } from "../arguments.ts";
import { type Context, command, type ExitCode, home, NO_OPERANDS } from "../command.ts";
import { agentHost } from "./agents.ts";
import { hostOf } from "./host.ts";
import { CLIS, install } from "./install.ts";

/** `mcp`: the tools of agent-bridge for other agents, over the Model Context Protocol. */
export const mcp = command({
  name: "mcp",
  summary: "give agents tools that read sessions (an MCP server on stdio)",
  operands: NO_OPERANDS,
  options: {
    "allow-agents": flag("also tools that start and prompt agents"),
    install: choice("print what makes this CLI start it", CLIS),
    write: flag("with --install: put that into the CLI's settings"),
    force: flag("with --write: in the place of another entry of that name"),
    home,
  },
  notes: [
    "An agent's CLI starts it and speaks with it over stdin and stdout, in the Model Context Protocol (2026-07-28, and 2025-11-25 and before). Its tools list and read sessions without a server, say who is live, and give the session a name (join, which needs a server).",
    "What sessions hold may be written by anyone: the tools mark it as data. So agents can be started and prompted only with --allow-agents; in the running server, else in this process, and then they end with it.",
    "--install prints and changes nothing. With --write it adds one entry to ~/.claude.json, ~/.codex/config.toml or ~/.config/opencode/opencode.json, and leaves all else there as it stands.",
  ],
  examples: [
    ["mcp --install claude", "how to set it up in Claude Code"],
    ["mcp --install codex --write", "set it up in Codex"],
  ],
  async run(context, { options }) {
    const { home, install: cli, write, force, "allow-agents": allowsAgents } = options;
    if (cli !== undefined) {
      if (force && !write) throw new Failure("usage", "--force is for --write");
      return install(context, cli, { home, allowsAgents, write, force });
    }
    if (write || force) throw new Failure("usage", `--${write ? "write" : "force"} is for --install`);
    return served(context, home, allowsAgents);
  },
});

/** Serves on stdin and stdout until stdin ends or this process is to end. */
async function served(context: Context, home: string | undefined, allowsAgents: boolean): Promise<ExitCode> {
  const { input, terminal, untilInterrupted } = context;
  const end = untilInterrupted();
  const ours = context.environment(home);
  const host = hostOf(context, ours, home);
  const agents = allowsAgents ? agentHost(context, ours, home, async () => (await host.opened()).stores) : undefined;
  const exporting = agentExport();
  const tools = [listSessions, readSession, listSubagents, exporting, listPeers, join, ...(agents ? AGENT_TOOLS : [])];
  if (input.isTerminal) await terminal.err(context.program.said(ON_A_TERMINAL));
  // They are ended first, while what is still being answered is left.
  end.addEventListener("abort", () => void agents?.close().catch(() => {}), { once: true });
  try {
    const wire = {
      input: (signal: AbortSignal) => input.parts(signal),
      send: (piece: Uint8Array) => terminal.out(piece),
    };
    await serveMcp(wire, tools, agents ? { ...host, agents } : host, end);
  } finally {
    await Promise.all([exporting.close(), agents?.close()]);
  }
  return 0;
}

const ON_A_TERMINAL =
  "This is for programs: it takes messages of the Model Context Protocol, one a line. agent-bridge mcp --install claude shows how to set it up. Ctrl-C ends it.\n";
