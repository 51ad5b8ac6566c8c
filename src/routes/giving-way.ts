import type { Chat } from "./follow.ts";

/** Finds the chat that a path leads to now, which `known` was before; undefined when there is none. */
export type FindAgain = (known?: Chat) => Promise<Chat | undefined>;

/**
 * `chat`, which whoever follows it leaves for the one that `find` comes to find in its place; should there be none when
 * `isOver` says so, none will come, and following ends.
 */
export function givingWay(chat: Chat, find: FindAgain, isOver: () => boolean = () => false): Chat {
  return {
    ...chat,
    async successor() {
      // Asked first: what was written up to the end is found then.
      const over = isOver();
      const found = await find(chat);
      if (found === undefined) return over ? "over" : undefined;
      return isSameChat(found, chat) ? undefined : givingWay(found, find);
    },
  };
}

/** Whether both are read from the same place in the same way. */
export function isSameChat({ ref: a }: Chat, { ref: b }: Chat): boolean {
  return a.agent === b.agent && a.id === b.id && a.child === b.child && a.reading === b.reading;
}
