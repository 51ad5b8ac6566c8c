import { path, read, transcriptPath } from "../api.ts";
import { openChatPane } from "../chat/chat-pane.ts";
import { fill, h } from "../dom.ts";
import { empty, failure } from "../parts/states.ts";
import type { App } from "../view.ts";

/** What an agent's session said, as it was recorded. */
export interface AgentChat {
  readonly element: HTMLElement;
  /** Something may have been said. */
  look(): void;
  close(): void;
}

/** The conversation of the session `id`; until something is recorded there is none to open. */
export function agentChat(app: App, id: string): AgentChat {
  const element = h("div", { class: "panes" });
  const left = new AbortController();
  let pane: ReturnType<typeof openChatPane> | undefined;
  let looking = false;

  const look = async (): Promise<void> => {
    if (pane !== undefined || looking || left.signal.aborted) return;
    looking = true;
    try {
      const { events } = await read<{ readonly events: readonly unknown[] }>(
        `${path("sessions", id)}/events`,
        { limit: 1 },
        left.signal,
      );
      if (left.signal.aborted) return;
      if (events.length === 0) fill(element, empty("Nothing was said yet."));
      else {
        const base = transcriptPath("daemon", id);
        pane = openChatPane({ app, base, live: { agent: "daemon", id }, label: "Conversation" });
        fill(element, pane.element);
      }
    } catch (error) {
      if (!left.signal.aborted)
        fill(
          element,
          failure("What was said can't be shown", error, () => void look()),
        );
    } finally {
      looking = false;
    }
  };
  void look();
  return {
    element,
    look: () => void look(),
    close() {
      left.abort();
      pane?.close();
    },
  };
}
