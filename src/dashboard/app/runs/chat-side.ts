import { path, read } from "../api.ts";
import { fill, h } from "../dom.ts";
import { empty, failure, loading } from "../parts/states.ts";
import { hashOf } from "../places.ts";
import type { Run } from "../wire.ts";
import { sessionPlace } from "./run-facts.ts";

/** What was said in a run. */
export interface ChatSide {
  readonly element: HTMLElement;
  /** Shows the chat of the run as it is now. */
  show(run: Run): void;
  close(): void;
}

/** The chat of a run: the way to its session, or why there is none, in the server's words. */
export function openChatSide(name: string): ChatSide {
  const body = h("div", {}, loading("Looking for the chat"));
  let shown: string | undefined;
  const ask = async (run: Run): Promise<void> => {
    const place = sessionPlace(run);
    try {
      await read(path("runs", name, "chat"), { from: "tail" });
      const link = place && h("a", { class: "button main", href: hashOf(place) }, "Open the session");
      fill(body, empty("The chat is in the run's session.", h("p", {}, link)));
    } catch (error) {
      fill(
        body,
        failure("There is no chat to show.", error, () => void ask(run)),
      );
    }
  };
  return {
    element: h("section", { class: "pane", "aria-label": "Chat" }, body),
    show(run) {
      const now = `${run.sessionId} ${run.session} ${run.status}`;
      if (now !== shown) void ask(run);
      shown = now;
    },
    close() {},
  };
}
