import { isAbsolute } from "node:path";
import { Failure } from "../../platform/failure.ts";
import { AGENT, COUNT, list, object, orNull, ROW, TEXT } from "../../routes/schemas.ts";
import type { ListQuery } from "../../stores/inventory.ts";
import { LIST_STATES, parseRowCursor } from "../../stores/list-query.ts";
import type { Listed } from "../../stores/store.ts";
import { AGENT_NAMES, type AgentName } from "../../transcript/names.ts";
import type { Host } from "../host.ts";
import { CURSOR, fitting } from "../limits.ts";
import { READS, tool } from "../tool.ts";
import { framed, moment, NOTICE, shown, shownLine } from "../untrusted.ts";

/** Rows in an answer, unless asked otherwise. */
const USUAL_ROWS = 25;
const MOST_ROWS = 200;

/** `list_sessions`: which sessions there are. */
export const listSessions = tool({
  name: "list_sessions",
  title: "List sessions",
  description:
    "Lists the sessions of the coding agents on this machine (Claude Code, Codex, OpenCode, Hermes, and recordings: `daemon`), the last updated first: id, title, folder, times, whether a process has it open now. " +
    "Narrow it with agent, project, q or state. Use read_session with agent/id to read one.",
  input: {
    agent: { type: "string", enum: AGENT_NAMES, description: "Sessions of this agent only." },
    project: {
      type: "string",
      minLength: 1,
      maxLength: 4_096,
      description:
        "The absolute path of a folder: sessions that started in it or below. A folder in a git working tree stands for the whole tree.",
    },
    q: {
      type: "string",
      minLength: 1,
      maxLength: 1_000,
      description: "Stands in the title or the folder; upper and lower case are the same.",
    },
    state: {
      type: "string",
      enum: LIST_STATES,
      description: "`live`: a process has it open now. `ended`: all others.",
    },
    children: { type: "boolean", description: "Also subagents that are sessions of their own." },
    limit: {
      type: "integer",
      minimum: 1,
      maximum: MOST_ROWS,
      description: `Sessions at most; ${USUAL_ROWS} when absent. There are fewer when they would take too much room.`,
    },
    cursor: { ...CURSOR, description: "The `next` of an earlier answer with the same arguments." },
  },
  required: [],
  output: object(
    { notice: TEXT, sessions: list(ROW, MOST_ROWS), next: orNull(TEXT), total: COUNT },
    {
      problems: {
        ...list(object({ agent: AGENT, problem: TEXT })),
        description: "What is left out of the list, by agent, and why.",
      },
    },
  ),
  hints: READS,
  async run({ cursor, limit = USUAL_ROWS, project, ...filter }, { host }) {
    if (project !== undefined && !isAbsolute(project)) {
      throw new Failure("bad-request", "project must be the absolute path of a folder");
    }
    const query = { ...filter, project, before: cursor === undefined ? undefined : rowCursorOf(cursor) };
    const { inventory } = await host.histories();
    await inventory.settled();
    const page = await inventory.query({ ...query, limit });
    const room = fitting(page.transcripts);
    const { transcripts, next, total } =
      room === page.transcripts.length ? page : await inventory.query({ ...query, limit: room });
    const problems = await problemsOf(host, filter.agent);
    const sessions = shown(transcripts);
    return {
      structured: { notice: NOTICE, sessions, next, total, ...(problems.length > 0 && { problems }) },
      text: [
        `${total} session${total === 1 ? "" : "s"}${sessions.length < total ? `, ${sessions.length} of them here` : ""}`,
        ...problems.map(({ agent, problem }) => `left out of ${agent}: ${problem}`),
        ...(sessions.length === 0 ? [] : [framed(() => sessions.map(rowText).join("\n"))]),
        ...(next === null ? [] : [`more: cursor ${next}`]),
      ].join("\n"),
    };
  },
});

/** What of the sessions of `agent`, or of all, is not listed: a whole store that can't be asked, or some that lies in it. */
async function problemsOf({ histories }: Host, agent: AgentName | undefined) {
  const { inventory, stores } = await histories();
  const standings = await inventory.standings();
  const asked = stores.filter((store) => agent === undefined || store.agent === agent);
  const problems = asked.map(async (store) => {
    const whole = standings.find((standing) => standing.agent === store.agent)?.problem;
    const { skipped } = whole === undefined ? await store.report() : { skipped: [] };
    const parts = skipped.map(({ reason, count }) => `${count} × ${reason}`);
    return [...(whole === undefined ? [] : [whole]), ...parts].map((problem) => ({ agent: store.agent, problem }));
  });
  return (await Promise.all(problems)).flat();
}

/** @throws Failure bad-request, in the API's words for its `before` */
function rowCursorOf(text: string): ListQuery["before"] {
  try {
    return parseRowCursor(text);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new Failure(error.kind, error.message.replace(/^before\b/, "cursor"), error);
  }
}

function rowText({ agent, id, title, cwd, branch, updatedAt, model, parent, live }: Listed): string {
  const activity = live && `live${live.activity === undefined ? "" : `, ${shownLine(live.activity)}`}`;
  const facts = [shownLine(cwd, 500), branch && `branch ${shownLine(branch)}`, model && shownLine(model), activity];
  const of = parent && `subagent of ${parent}`;
  const words = [...facts, of].filter((fact) => fact !== undefined && fact !== "").join(" | ");
  return `${agent}/${id}  ${moment(updatedAt)}  ${shownLine(title)}\n  ${words}`;
}
