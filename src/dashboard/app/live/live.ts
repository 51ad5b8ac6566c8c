import type { AgentName, Cursor, Item } from "../wire.ts";

/** How the page's one connection stands: `gone` while the server does not answer, `shut-out` when the key is no longer good. */
export type LinkStatus = "connecting" | "live" | "gone" | "shut-out";

/** A list that may change. */
export type ListName = "transcripts" | "runs" | "sessions" | "peers";

/** What changed in a list; without `ids`, anything may have. */
export interface ListChange {
  readonly ids?: readonly string[];
}

/** A chat, or with `child` that of a subagent. */
export interface ChatName {
  readonly agent: AgentName;
  readonly id: string;
  readonly child?: string;
}

/**
 * What is told of a chat that is followed. `following`: from now on every page comes; what came between the cursor that was
 * given and now must be read by the client itself, up to an empty page (doing so needlessly is harmless). `page`: what is
 * new, which may repeat what the client has. `reset`: the transcript is another one; open it anew. `error`: nothing more comes, and why.
 */
export type ChatEvent =
  | { readonly kind: "following" }
  | { readonly kind: "page"; readonly items: readonly Item[]; readonly next: Cursor }
  | { readonly kind: "reset" }
  | { readonly kind: "error"; readonly message: string };

/** Ends what it was given for. */
export type Off = () => void;

/** What the server tells by itself: one connection to `/api/events` for all tabs of a browser. */
export interface Live {
  readonly status: LinkStatus;
  /** Why it stands so, in the server's own words, where it said any: how to get in again. */
  readonly reason: string | undefined;
  /** Tells each new status. */
  onStatus(told: (status: LinkStatus) => void): Off;
  /** Tells changes of a list, also once after each break in the connection, when anything may have changed. */
  on(list: ListName, told: (change: ListChange) => void): Off;
  /** Follows a chat from `from`, the `next` of a page that was read. */
  follow(chat: ChatName, from: Cursor, told: (event: ChatEvent) => void): Off;
  /** Tries again now, where the server was gone. */
  retry(): void;
  close(): void;
}
