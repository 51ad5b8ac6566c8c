import { PeerRegistry } from "../peers/registry.ts";
import type { Environment } from "../platform/environment.ts";
import { type AskedChat, type AskedTools, askedChat } from "../routes/asked-chat.ts";
import type { Histories } from "./bridge.ts";
import type { Context } from "./command.ts";
import { withProgress } from "./progress.ts";

/** What finding a session by what a person says of it takes, from the files alone: no server needs to run. */
export function askedTools(
  { bridge, clock }: Pick<Context, "bridge" | "clock">,
  environment: Environment,
  { stores, inventory, tools }: Pick<Histories, "stores" | "inventory" | "tools">,
): AskedTools {
  const own = bridge.ownSessions(environment);
  const peers = new PeerRegistry({
    ...{ own, stores, clock, timer: tools.timer },
    titleOf: (agent, id) => inventory.row(agent, id)?.title,
  });
  return { stores, pages: tools.pages, own, peers };
}

/** The session that `asked` means, or its subagent `child`, and where it was looked for. @throws as `askedChat` */
export async function findAsked(
  context: Pick<Context, "bridge" | "clock" | "terminal">,
  environment: Environment,
  asked: string,
  child: string | undefined,
): Promise<AskedChat & { readonly histories: Histories }> {
  const histories = await context.bridge.histories(environment);
  const tools = askedTools(context, environment, histories);
  const looking = (): Promise<AskedChat> => askedChat(tools, asked, child);
  return { ...(await withProgress(context.terminal, "Looking for the session", looking)), histories };
}
