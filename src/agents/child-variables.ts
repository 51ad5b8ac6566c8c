/** The variable by which a process, wherever it has got to, is known to belong to a session of ours. Its value: the session's id. */
export const MARK = "AGENT_BRIDGE_SESSION";

type Variables = { readonly [name: string]: string };

/**
 * The variables for a program that we start: ours (`inherited`) without what tells of ourselves or of the CLI's session
 * that we may have been started in, and `added`, which win.
 */
export function childVariables(inherited: Variables, added: Variables = {}): Variables {
  const kept = Object.entries(inherited).filter(([name]) => !name.startsWith("AGENT_BRIDGE_") && !NESTED.has(name));
  return { ...Object.fromEntries(kept), ...added };
}

/**
 * What CLIs set for the programs that they run, by which another of them would take itself for a part of that session, and
 * refuse to start or name the wrong one. What a user sets for a CLI (`OPENCODE_CONFIG`, `OPENCODE_DB`, `CLAUDE_CONFIG_DIR`,
 * `CODEX_HOME`) stays.
 */
const NESTED: ReadonlySet<string> = new Set([
  "AI_AGENT",
  "CLAUDECODE",
  "CLAUDE_CODE_CHILD_SESSION",
  "CLAUDE_CODE_ENTRYPOINT",
  "CLAUDE_CODE_EXECPATH",
  "CLAUDE_CODE_SESSION_ID",
  "CLAUDE_CODE_SSE_PORT",
  "CODEX_CI",
  "CODEX_SANDBOX",
  "CODEX_SANDBOX_NETWORK_DISABLED",
  "CODEX_THREAD_ID",
  "GEMINI_CLI",
  "OPENCODE",
  "OPENCODE_CLIENT",
  "OPENCODE_PID",
  "OPENCODE_PROCESS_ROLE",
  "OPENCODE_RUN_ID",
  "OPENCODE_SERVER_PASSWORD",
  "OPENCODE_SERVER_USERNAME",
]);
