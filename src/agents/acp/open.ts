import { realpathSync } from "node:fs";
import { Failure } from "../../platform/failure.ts";
import type { Timer } from "../../platform/timer.ts";
import { AcpClient } from "./client.ts";
import type { AcpConnection, AcpHandlers, AcpOpening, AcpStreams } from "./connection.ts";
import { AgentFiles } from "./files.ts";
import { beginSession, introduce } from "./handshake.ts";
import { Patience } from "./patience.ts";

/**
 * Speaks ACP with an agent that was just started, until its session is there.
 * @throws Failure bad-request: it offers no such model · failed: the folder can't be used, or the agent answers with an
 * error, wants its user to log in, speaks another version, does not answer in time, or is gone. Then it is answered
 * nothing any more; ending it is left to whoever started it.
 */
export async function openAcp(
  streams: AcpStreams,
  handlers: AcpHandlers,
  opening: AcpOpening,
  { timer }: { readonly timer: Timer },
): Promise<AcpConnection> {
  const client = new AcpClient(streams, handlers, new AgentFiles(realFolder(opening.cwd)));
  const patience = new Patience(timer, opening.patienceMs, (why) => client.close(why));
  try {
    const introduced = await introduce(client, opening, patience);
    const sessionId = await beginSession(client, introduced, opening, { patience, timer });
    return {
      agent: introduced.agent,
      sessionId,
      get model() {
        return client.models?.current;
      },
      prompt: (text) => client.prompt(sessionId, text),
      cancel: () => client.cancel(sessionId),
      closed: client.closed,
      close: (why = new Failure("failed", "the connection to the agent was closed")) => client.close(why),
    };
  } catch (error) {
    client.close(new Failure("failed", "the agent did not come up", error));
    throw error;
  } finally {
    patience.end();
  }
}

function realFolder(cwd: string): string {
  try {
    return realpathSync.native(cwd);
  } catch (error) {
    throw new Failure("failed", "the session's folder is not there, or can't be read", error);
  }
}
