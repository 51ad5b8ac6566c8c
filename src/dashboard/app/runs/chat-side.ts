import { path } from "../api.ts";
import { openChatPane } from "../chat/chat-pane.ts";
import { fill, h } from "../dom.ts";
import type { App } from "../view.ts";
import type { Run } from "../wire.ts";
import { sessionPlace } from "./run-facts.ts";

/** What was said in a run. */
export interface ChatSide {
  readonly element: HTMLElement;
  /** Shows the chat of the run, which is another one once its session is known. */
  show(run: Run): void;
  close(): void;
}

/** The chat of the run `name`: that of its session; or why there is none, in the server's words. */
export function openChatSide(name: string, app: App): ChatSide {
  const element = h("div", { class: "pane" });
  let shown: string | undefined;
  let pane: ReturnType<typeof openChatPane> | undefined;
  return {
    element,
    show(run) {
      const live = sessionPlace(run);
      if (shown === (live?.id ?? "")) return;
      shown = live?.id ?? "";
      pane?.close();
      pane = openChatPane({ app, base: path("runs", name), label: "Chat", ...(live !== undefined && { live }) });
      fill(element, pane.element);
    },
    close: () => pane?.close(),
  };
}
