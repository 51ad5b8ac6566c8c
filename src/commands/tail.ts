import { Failure } from "../platform/failure.ts";
import { follow } from "../routes/follow.ts";
import { keptAlive } from "./alive.ts";
import { flag, text, wholeNumber } from "./arguments.ts";
import { findAsked } from "./asked.ts";
import { endOfChat } from "./chat.ts";
import { command, home, json, ONE_SESSION } from "./command.ts";
import { itemWriter } from "./print.ts";

/** Items that `tail` prints when it is not told. */
const ITEMS = 10;

/** `tail`: the end of a chat, and what is added to it. */
export const tail = command({
  name: "tail",
  summary: "print the end of a chat; with -f follow it",
  operands: ONE_SESSION,
  options: {
    follow: flag("go on with what is written from now on, until Ctrl-C", "f"),
    items: wholeNumber("N", `how many items to begin with (${ITEMS})`, [0, 1_000_000], "n"),
    child: text("ID", "the chat of this subagent of the session"),
    json: { ...json, help: "print the items as JSON, one a line" },
    home,
  },
  notes: [
    "ID is as for show.",
    "A transcript that goes away while it is followed is waited for, for five seconds; then tail exits 1.",
  ],
  examples: [
    ["tail -f 4f0c", "watch the session at work"],
    ["tail -f -n 0 --json 4f0c", "only what is new, for a program"],
  ],
  async run(context, { options, operands: [asked = ""] }) {
    const { terminal, environment, untilInterrupted } = context;
    const { chat, histories } = await findAsked(context, environment(options.home), asked, options.child);
    const write = itemWriter(terminal, options.json);
    const end = await endOfChat(chat, options.items ?? ITEMS);
    await write(end.items);
    if (!options.follow) return 0;
    await keptAlive(async () => {
      const interrupted = untilInterrupted();
      for await (const { items, reset } of follow(chat, end.next, histories.tools, interrupted)) {
        if (reset) await terminal.err("the transcript was replaced; this is its beginning\n");
        await write(items);
      }
      if (!interrupted.aborted) throw new Failure("failed", "the transcript is gone, so nothing more will come of it");
    });
    return 0;
  },
});
