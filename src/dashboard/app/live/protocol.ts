import type { Cursor } from "../wire.ts";
import type { ChatEvent, ChatName, LinkStatus, ListChange, ListName } from "./live.ts";

/**
 * Part of the hub's name: a tab never meets a hub that another version of the page left running. To be raised whenever what
 * is said here changes.
 */
export const PROTOCOL = 1;

/** What a tab tells the hub. */
export type ToHub =
  /** The hub can wait for this lock: the tab holds it as long as it lives. */
  | { readonly kind: "lock"; readonly name: string }
  | { readonly kind: "visible"; readonly visible: boolean }
  /** `key` is the tab's own name for what it follows. */
  | { readonly kind: "follow"; readonly key: number; readonly chat: ChatName; readonly from: Cursor }
  | { readonly kind: "unfollow"; readonly key: number }
  | { readonly kind: "retry" }
  | { readonly kind: "leave" };

/** What the hub tells a tab. */
export type FromHub =
  | { readonly kind: "status"; readonly status: LinkStatus; readonly reason?: string }
  | { readonly kind: "list"; readonly list: ListName; readonly change: ListChange }
  | { readonly kind: "chat"; readonly key: number; readonly event: ChatEvent };
