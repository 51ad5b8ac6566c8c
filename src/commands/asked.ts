import type { KnownPeer, Peer } from "../peers/peer.ts";
import { PeerRegistry } from "../peers/registry.ts";
import type { Environment } from "../platform/environment.ts";
import { Failure } from "../platform/failure.ts";
import { type AskedChat, type AskedTools, askedChat } from "../routes/asked-chat.ts";
import type { Histories } from "./bridge.ts";
import type { Context } from "./command.ts";
import { withProgress } from "./progress.ts";
import { peersOf } from "./served-peers.ts";

/** What finding a session by what a person says of it takes; no server needs to run. */
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
  // Who was given no name has one that was made up: while a server runs, it is the one that the server made.
  const named = async (name: string): Promise<KnownPeer | undefined> => {
    const known = await peers.find(name);
    if (known !== undefined && known.origin !== "proven") return known;
    const all = await served({ bridge }, environment);
    const peer = all.find((each) => each.name === name);
    return peer === undefined ? (all.length === 0 ? known : undefined) : { peer, origin: "proven" };
  };
  return { stores, pages: tools.pages, own, peers: { list: () => peers.list(), find: named } };
}

/** The peers as the server on this home knows them; none when it does not run, or does not answer. */
async function served({ bridge }: Pick<Context, "bridge">, environment: Environment): Promise<readonly Peer[]> {
  try {
    const running = await bridge.running(environment);
    return running === undefined ? [] : await peersOf({ url: running.url, key: await bridge.key(environment) });
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
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
