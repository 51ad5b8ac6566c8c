import type { EpochMs } from "../platform/clock.ts";
import type { Chat } from "../routes/follow.ts";
import { text, wholeNumber } from "./arguments.ts";
import { findAsked } from "./asked.ts";
import { endOfChat, wholeChat } from "./chat.ts";
import { command, home, json, ONE_SESSION } from "./command.ts";
import { itemWriter } from "./print.ts";
import { withProgress } from "./progress.ts";
import { shortPath } from "./stores.ts";
import type { Heading } from "./transcript.ts";
import { day, timeOfDay } from "./when.ts";

/** `show`: a whole chat, for reading. */
export const show = command({
  name: "show",
  summary: "print the chat of a session",
  operands: ONE_SESSION,
  options: {
    tail: wholeNumber("N", "only the last N items", [1, 1_000_000]),
    child: text("ID", "the chat of this subagent of the session"),
    json: { ...json, help: "print the items as JSON, one a line" },
    home,
  },
  notes: [
    "ID is a session's id, or as much of its beginning as no other session has, or the name of a live session or of one that agent-bridge ran; AGENT/ID is one of that agent.",
    "Long texts and tool outputs are cut, as in the API: to 16,000 and 1,200 characters.",
  ],
  examples: [
    ["show 4f0c", "the session whose id begins with 4f0c"],
    ["show claude/4f0c --tail 20", "its last 20 items"],
    ["show 4f0c --json | jq -r 'select(.tool==\"Bash\").summary'", "every command that it ran"],
  ],
  async run(context, { options, operands: [asked = ""] }) {
    const { terminal, environment } = context;
    const { chat } = await findAsked(context, environment(options.home), asked, options.child);
    const heading = options.json
      ? undefined
      : await withProgress(terminal, "Looking for its title", () => headingOf(chat, environment().home));
    const write = itemWriter(terminal, options.json, heading);
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

/** What is known of a session or subagent, for people; undefined when its store lists it no more. */
async function headingOf({ store, ref }: Chat, userHome: string): Promise<Heading | undefined> {
  if (ref.child !== undefined) {
    const session = await store.find(ref.id);
    const child =
      session && (await store.children(session, Number.POSITIVE_INFINITY)).children.find(({ id }) => id === ref.child);
    return (
      child && { title: child.title, facts: [`${ref.agent}/${ref.id} --child ${child.id}`, moment(child.startedAt)] }
    );
  }
  const row = (await store.list("sweep")).find(({ id }) => id === ref.id);
  if (row === undefined) return undefined;
  const facts = [`${ref.agent}/${ref.id}`, shortPath(row.cwd, userHome), row.branch ?? "", moment(row.startedAt)];
  return { title: row.title, facts };
}

function moment(at: EpochMs): string {
  return `${day(at)} ${timeOfDay(at)}`;
}
