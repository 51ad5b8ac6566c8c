import { text, wholeNumber } from "./arguments.ts";
import { endOfChat, wholeChat } from "./chat.ts";
import { command, home, json } from "./command.ts";
import { itemWriter } from "./print.ts";
import { withProgress } from "./progress.ts";
import { findChat } from "./session.ts";

/** `show`: a whole chat, for reading. */
export const show = command({
  name: "show",
  summary: "print the chat of a session",
  operands: { shown: "ID", least: 1, most: 1 },
  options: {
    tail: wholeNumber("N", "only the last N items", [1, 1_000_000]),
    child: text("ID", "the chat of this subagent of the session"),
    json: { ...json, help: "print the items as JSON, one a line" },
    home,
  },
  notes: [
    "ID is a session's id, or as much of its beginning as no other session has; AGENT/ID names one of that agent.",
    "Long texts and tool outputs are cut, as in the API: to 16,000 and 1,200 characters.",
  ],
  examples: [
    ["show 4f0c", "the session whose id begins with 4f0c"],
    ["show claude/4f0c --tail 20", "its last 20 items"],
    ["show 4f0c --json | jq -r 'select(.tool==\"Bash\").summary'", "every command that it ran"],
  ],
  async run({ terminal, bridge, environment }, { options, operands: [asked = ""] }) {
    const { stores } = await bridge.histories(environment(options.home));
    const chat = await withProgress(terminal, "Looking for the session", () => findChat(stores, asked, options.child));
    const write = itemWriter(terminal, options.json);
    const { tail } = options;
    if (tail !== undefined) {
      const end = await withProgress(terminal, "Reading", () => endOfChat(chat, tail));
      await write(end.items);
      return 0;
    }
    for await (const items of wholeChat(chat)) await write(items);
    return 0;
  },
});
