import { Failure } from "../platform/failure.ts";
import type { SessionRef, Store } from "../stores/store.ts";
import { agentNameOf, type SessionId, sessionIdOf } from "../transcript/names.ts";
import type { Chat } from "./follow.ts";

/** The chat of the session `asked`, or of its subagent `child`. @throws as `findSession` */
export async function findChat(stores: readonly Store[], asked: string, child: string | undefined): Promise<Chat> {
  const session = await findSession(stores, asked);
  return child === undefined ? session : findChild(session, child);
}

/**
 * The session that `asked` names: `agent/id` or `id`, whole or as much of its beginning as no other has.
 * @throws Failure usage when several begin so, not-found when none does.
 */
async function findSession(stores: readonly Store[], asked: string): Promise<Chat> {
  const slash = asked.indexOf("/");
  const agent = slash < 0 ? undefined : agentNameOf(asked.slice(0, slash));
  const id = sessionIdOf(asked.slice(slash + 1));
  if (id === undefined || (slash >= 0 && agent === undefined)) throw noSession(asked);
  const searched = stores.filter((store) => agent === undefined || store.agent === agent);
  const exact = await withId(searched, id);
  const found = exact.length > 0 ? exact : await withPrefix(searched, id);
  const [first, second] = found;
  if (first === undefined) throw noSession(asked);
  if (second === undefined) return first;
  const some = found.slice(0, 3).map(({ ref }) => `${ref.agent}/${ref.id}`);
  const more = found.length > some.length ? ` and ${found.length - some.length} more` : "";
  throw new Failure("usage", `"${asked}" may be ${some.join(", ")}${more}; give more of the id`);
}

/** The subagent `asked` of `session`, by its id or by as much of its beginning as no other has. @throws as `findSession` */
async function findChild(session: Chat, asked: string): Promise<Chat> {
  const { store, ref } = session;
  const id = sessionIdOf(asked);
  const exact = id && (await childChat(session, id));
  if (exact) return exact;
  const { children } = await store.children(ref);
  const near = id === undefined ? [] : children.filter((child) => child.id.startsWith(id));
  if (near.length > 1)
    throw new Failure("usage", `${near.length} subagents begin with "${asked}"; give more of the id`);
  const child = near[0] && (await childChat(session, near[0].id));
  if (child === undefined) {
    const known = children.slice(0, 5).map((each) => each.id);
    const hint = known.length === 0 ? "it has none" : `it has ${known.join(", ")}${children.length > 5 ? ", …" : ""}`;
    throw new Failure("not-found", `${ref.id} has no subagent "${asked}"; ${hint}`);
  }
  return child;
}

async function childChat({ store, locate }: Chat, id: SessionId): Promise<Chat | undefined> {
  const find = async (): Promise<SessionRef | undefined> => {
    const parent = await locate();
    return parent && (await store.child(parent, id));
  };
  const ref = await find();
  return ref && { store, ref, locate: find };
}

async function sessionChat(store: Store, id: SessionId): Promise<Chat | undefined> {
  const ref = await store.find(id);
  return ref && { store, ref, locate: () => store.find(id) };
}

async function withId(stores: readonly Store[], id: SessionId): Promise<Chat[]> {
  const chats = await Promise.all(stores.map((store) => sessionChat(store, id)));
  return chats.filter((chat) => chat !== undefined);
}

async function withPrefix(stores: readonly Store[], prefix: SessionId): Promise<Chat[]> {
  const found: Chat[] = [];
  for (const store of stores) {
    const ids = (await store.list("sweep")).map((listed) => listed.id);
    for (const id of new Set(ids.filter((each) => each.startsWith(prefix)))) {
      const chat = await sessionChat(store, id);
      if (chat !== undefined) found.push(chat);
    }
  }
  return found;
}

function noSession(asked: string): Failure {
  return new Failure("not-found", `no session "${asked}"; see agent-bridge ls`);
}
