import type { Hub } from "./hub.ts";
import type { ToHub } from "./protocol.ts";

/** Gives the tab at the other end of `port` a place at the hub, until it says that it leaves, or is gone without a word. */
export function seat(hub: Hub, port: MessagePort): void {
  const { hear, leave } = hub.join((message) => port.postMessage(message));
  port.addEventListener("message", ({ data }: MessageEvent<ToHub>) => {
    hear(data);
    // Who gets the lock that a tab holds as long as it lives has outlived it.
    if (data.kind === "lock") void navigator.locks.request(data.name, leave);
  });
  port.start();
}
