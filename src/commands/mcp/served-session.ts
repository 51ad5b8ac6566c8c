import { absolute } from "../../platform/environment.ts";
import { startOf } from "../../platform/process-identity.ts";
import type { LiveProof } from "../../stores/store.ts";
import type { AgentName } from "../../transcript/names.ts";
import { type CallingSession, type CallingTools, callingSession } from "../calling-session.ts";
import { likelyProcess } from "../cli-process.ts";

/** What the tool `join` is called, whatever an agent puts before the name. */
const JOIN = /(?:^|[^a-z])join$/i;

/**
 * The session whose agent runs this process as its MCP server. The agent's own files know best, where they say which session
 * its process has open: the environment is from the start of that process, which may have gone on to another session.
 * @throws Failure failed: it can't be told
 */
export async function servedSession(tools: Omit<CallingTools, "words" | "tool">): Promise<CallingSession> {
  const proven = await provenOpen(tools);
  return proven ?? callingSession({ ...tools, words: [], tool: JOIN });
}

/**
 * The session that the process which runs this one has open, when its store proves that it is that one alone. A process
 * further up may be the agent of an agent.
 */
async function provenOpen({ histories, ancestors }: Pick<CallingTools, "histories" | "ancestors">) {
  const pid = likelyProcess(ancestors)?.pid;
  const proofs: (LiveProof & { readonly agent: AgentName })[] = [];
  for (const store of histories.stores) {
    const { agent } = store;
    if (agent === "daemon") continue;
    // What can't be asked proves nothing; the other ways are left.
    const proven = await store.live().catch(() => []);
    proofs.push(...proven.filter((proof) => proof.pid === pid).map((proof) => ({ ...proof, agent })));
  }
  const [only, ...others] = proofs;
  if (pid === undefined || only === undefined || others.length > 0) return undefined;
  const { agent, id, cwd } = only;
  const start = startOf(pid);
  return { agent, sessionId: id, cwd: cwd === "" ? absolute(".") : cwd, pid, ...(start !== undefined && { start }) };
}
