import { Failure } from "../../platform/failure.ts";
import { COUNT, list, object, orNull, SUBAGENT, TEXT } from "../../routes/schemas.ts";
import { CURSOR, fitting, SESSION } from "../limits.ts";
import { READS, tool } from "../tool.ts";
import { framed, moment, NOTICE, shown, shownLine } from "../untrusted.ts";

/** Rows in an answer, unless asked otherwise. */
const USUAL_ROWS = 50;
const MOST_ROWS = 200;

/** `list_subagents`: the subagents of a session. */
export const listSubagents = tool({
  name: "list_subagents",
  title: "List the subagents of a session",
  description:
    "Lists the subagents that a session has started, newest first: id, title, and what is known of how each is doing. Read one's chat with read_session and its id as `child`.",
  input: {
    session: SESSION,
    limit: {
      type: "integer",
      minimum: 1,
      maximum: MOST_ROWS,
      description: `Subagents at most; ${USUAL_ROWS} when absent.`,
    },
    cursor: CURSOR,
  },
  required: ["session"],
  output: object({
    notice: TEXT,
    subagents: list(SUBAGENT, MOST_ROWS),
    next: orNull(TEXT),
    total: COUNT,
  }),
  hints: READS,
  async run({ session, limit = USUAL_ROWS, cursor }, { host }) {
    const { chat } = await host.asked(session, undefined);
    const { children } = await chat.store.children(chat.ref);
    const before = cursor === undefined ? -1 : children.findIndex(({ id }) => id === cursor);
    if (cursor !== undefined && before < 0) {
      throw new Failure("bad-request", "cursor must be the next of an earlier answer for this session");
    }
    const wanted = children.slice(before + 1, before + 1 + limit);
    const subagents = shown(wanted.slice(0, fitting(wanted)));
    const rest = children.length - (before + 1) - subagents.length;
    const next = rest > 0 ? (subagents.at(-1)?.id ?? null) : null;
    const rows = subagents.map(
      ({ id, title, status, startedAt, updatedAt, parent }) =>
        `${id}  ${status}  ${moment(startedAt)} – ${moment(updatedAt)}  ${shownLine(title)}${parent === undefined ? "" : ` (started by ${parent})`}`,
    );
    return {
      structured: { notice: NOTICE, subagents, next, total: children.length },
      text: [
        `${chat.ref.agent}/${chat.ref.id} has ${children.length} subagent${children.length === 1 ? "" : "s"}`,
        ...(rows.length === 0 ? [] : [framed(() => rows.join("\n"))]),
        ...(next === null ? [] : [`${rest} more: cursor ${next}`]),
      ].join("\n"),
    };
  },
});
