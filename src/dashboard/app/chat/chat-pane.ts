import type { ChatName } from "../live/live.ts";
import { hashOf } from "../places.ts";
import type { App } from "../view.ts";
import { ChatPane } from "./pane.ts";
import { sourceAt, transcriptSource } from "./source.ts";

/** A chat within another view. */
export interface ChatPaneOptions {
  readonly app: App;
  /** The path under which its chat is, encoded, e.g. `/api/runs/<name>`. */
  readonly base: string;
  /** The transcript that it is, where that is known: then its items have links, and what is new comes by itself. */
  readonly live?: ChatName;
  /** What it is called for who can't see it. */
  readonly label: string;
}

/** A chat at its end, followed while it is in view. Its `element` fills its parent, which must have a height of its own. */
export function openChatPane({ app, base, live, label }: ChatPaneOptions): ChatPane {
  const options = { app, source: sourceAt(base, live), label };
  if (live === undefined) return new ChatPane({ ...options, mayLack: true });
  const { agent, id } = live;
  return new ChatPane({
    ...options,
    hashOf: (ref) => hashOf({ view: "session", agent, id, ref }),
    childHash: (child) => hashOf({ view: "session", agent, id, child }),
    childSource: (child) => transcriptSource(agent, id, child),
  });
}
