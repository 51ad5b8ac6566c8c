import { createEventText } from "../../agents/show-event.ts";
import { absolute } from "../../platform/environment.ts";
import { Failure } from "../../platform/failure.ts";
import { readBody } from "../../routes/body.ts";
import { COUNT, ID, list, object, TEXT } from "../../routes/schemas.ts";
import { START_FIELDS, startOf } from "../../routes/session-fields.ts";
import { ACCEPTED, PERMISSION } from "../../routes/session-schemas.ts";
import { clip } from "../../transcript/clip.ts";
import { printable } from "../../transcript/printable.ts";
import type { AgentHost, AgentRecords, AgentState } from "../host.ts";
import { LIMIT, SESSION, USUAL_CHARACTERS } from "../limits.ts";
import { type Call, type Tool, tool } from "../tool.ts";
import { framed, NOTICE, QuotingFailure, shownLine } from "../untrusted.ts";

const PROMPT = {
  type: "string",
  minLength: 1,
  maxLength: 500_000,
  description: "What the agent is to do, in words.",
} as const;

const STATE = {
  id: ID,
  status: {
    ...TEXT,
    description:
      "`starting`, `idle`, `busy`, `awaiting-input` (a question waits for a person), or over: `ended`, `failed`, `interrupted`.",
  },
  cwd: TEXT,
  permissions: { ...list(PERMISSION), description: "Questions for permission that wait for an answer." },
};
const STATE_MORE = { agent: TEXT, name: TEXT, error: { ...TEXT, description: "Why it failed." } };
const DRIVES = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };

/** The tools that start and prompt agents; only for a host that has them. */
export const AGENT_TOOLS: readonly Tool[] = [
  tool({
    name: "agent_start",
    title: "Start an agent",
    description:
      "Starts a coding agent in a session of its own, and with `prompt` gives it something to do. Comes back when it is up, not when it is done: agent_output tells what it does, agent_prompt gives it more.",
    input: {
      agent: {
        type: "string",
        minLength: 1,
        maxLength: 128,
        description:
          "claude, codex, opencode, hermes, gemini, mastra-agent, or an agent of agent-bridge's config.json.",
      },
      cwd: {
        type: "string",
        minLength: 1,
        maxLength: 4_096,
        description: "The absolute path of the folder that it works in; the folder of this server when absent.",
      },
      name: { type: "string", minLength: 1, maxLength: 128, description: "A name to find it by, besides its id." },
      model: {
        type: "string",
        minLength: 1,
        maxLength: 256,
        description: "The model, by the agent's own name for it.",
      },
      permit: {
        type: "string",
        enum: ["deny", "allow", "ask"],
        description:
          "How its questions for permission are answered: `deny` (when absent), `allow`, or `ask`: a person answers them in agent-bridge.",
      },
      prompt: PROMPT,
    },
    required: ["agent"],
    output: object(
      { notice: TEXT, ...STATE },
      { ...STATE_MORE, seq: { ...COUNT, description: "The number of the prompt's record." } },
    ),
    hints: DRIVES,
    async run({ cwd = absolute("."), ...given }, call) {
      const agents = agentsOf(call);
      const { what, prompt } = await startOf(readBody(START_FIELDS, { ...given, cwd }));
      const { agent = "", name, model, permit = "deny" } = what;
      const starting = agents.start({ agent, cwd: what.cwd, name, model, permit, prompt }, call.signal);
      const started = await starting.catch(inTwoParts);
      const state = stateOf(started);
      const { seq } = started;
      return {
        structured: { notice: NOTICE, ...state, ...(seq !== undefined && { seq }) },
        text: `The session ${state.id} of ${shownLine(agent)} is ${state.status}. See what it does with agent_output.`,
      };
    },
  }),
  tool({
    name: "agent_prompt",
    title: "Prompt an agent",
    description:
      "Gives a session that agent_start (or a person with agent-bridge) has started something to do. Comes back at once, or with `wait` when the turn has ended or waits for an answer to a question.",
    input: {
      session: { ...SESSION, description: "The session's id or name." },
      prompt: PROMPT,
      wait: { type: "boolean", description: "Come back only when the turn has ended." },
      interrupt: { type: "boolean", description: "Cancel the turn that runs, if one does; else that is an error." },
    },
    required: ["session", "prompt"],
    output: object(
      { notice: TEXT, ...(ACCEPTED.properties as Parameters<typeof object>[0]) },
      {
        reason: {
          ...TEXT,
          description: "With `wait`, how the turn ended: `completed`, `cancelled`, `error`, `awaiting-input`, …",
        },
      },
    ),
    hints: DRIVES,
    async run({ session, prompt, wait = false, interrupt = false }, call) {
      const {
        id,
        seq,
        reason: said,
      } = await agentsOf(call).prompt(session, prompt, {
        wait,
        interrupt,
        signal: call.leaving,
      });
      const reason = said && shownLine(said);
      const end = reason === undefined ? "The session has taken the prompt" : `The turn ended: ${reason}`;
      return {
        structured: { notice: NOTICE, id, seq, ...(reason !== undefined && { reason }) },
        text: `${end}. See what it did with agent_output, since ${seq}.`,
      };
    },
  }),
  tool({
    name: "agent_output",
    title: "See what an agent does",
    description:
      "Tells what a session that agent-bridge runs does now (status, questions that wait for permission), and what happened in it since the record `since`: prompts, replies, a line for each tool call. Call again with the answer's `nextSeq` as `since`.",
    input: {
      session: { ...SESSION, description: "The session's id or name." },
      since: { type: "integer", minimum: 0, description: "The number of a record: what came after it. 0 when absent." },
      limit: LIMIT,
    },
    required: ["session"],
    output: object(
      {
        notice: TEXT,
        ...STATE,
        text: { ...TEXT, description: "What happened." },
        nextSeq: { ...COUNT, description: "The `since` of the next call." },
        complete: { type: "boolean", description: "Nothing more has happened so far." },
      },
      STATE_MORE,
    ),
    hints: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    async run({ session, since = 0, limit = USUAL_CHARACTERS }, call) {
      const agents = agentsOf(call);
      const state = stateOf(await agents.state(session));
      const { text, nextSeq, complete } = await happened(agents, session, { since, limit, signal: call.signal });
      const questions = state.permissions.map(
        ({ title = "", options }) =>
          `It asks for permission: ${shownLine(title)} (${options.map(({ name }) => shownLine(name)).join(" / ")})`,
      );
      return {
        structured: { notice: NOTICE, ...state, text, nextSeq, complete },
        text: [
          `session ${state.id}: ${state.status}`,
          ...(text === "" && questions.length === 0 && state.error === undefined
            ? ["(nothing new)"]
            : [
                framed(() =>
                  [text, ...questions, ...(state.error === undefined ? [] : [`error: ${state.error}`])].join("\n"),
                ),
              ]),
          `${complete ? "later" : "more"}: since ${nextSeq}`,
        ].join("\n"),
      };
    },
  }),
];

function agentsOf({ host }: Call): AgentHost {
  if (host.agents !== undefined) return host.agents;
  throw new Failure("forbidden", "agents can't be started from here: agent-bridge mcp needs --allow-agents for that");
}

/** Why an agent did not start, with its own words apart. */
function inTwoParts(error: unknown): never {
  if (!(error instanceof Failure)) throw error;
  const [, ours, theirs] = /^(.* did not come up): (.*)$/s.exec(error.message) ?? [];
  throw ours === undefined || theirs === undefined ? error : new QuotingFailure(ours, theirs, error);
}

/** A state without what is not set; each text printable, on one line. */
function stateOf({ id, status, agent, name, cwd, error, permissions }: AgentState) {
  const lines = {
    ...(agent !== undefined && { agent: shownLine(agent) }),
    ...(name !== undefined && { name: shownLine(name) }),
    ...(error !== undefined && { error: shownLine(error, 1_000) }),
  };
  const questions = permissions.map(({ toolCallId, title, options }) => ({
    toolCallId: shownLine(toolCallId),
    ...(title !== undefined && { title: shownLine(title) }),
    options: options.map(({ optionId, name: its, kind }) => ({
      ...{ optionId: shownLine(optionId), name: shownLine(its), kind: shownLine(kind) },
    })),
  }));
  return { id, status: shownLine(status), cwd: shownLine(cwd, 4_096), ...lines, permissions: questions };
}

/** What happened since a record, as much as the limit lets. */
async function happened(
  agents: AgentHost,
  session: string,
  { since, limit, signal }: { readonly since: number; readonly limit: number; readonly signal: AbortSignal },
): Promise<{ readonly text: string; readonly nextSeq: number; readonly complete: boolean }> {
  const events = createEventText();
  let text = "";
  let nextSeq = since;
  for (;;) {
    signal.throwIfAborted();
    const from = nextSeq;
    const page: AgentRecords = await agents.records(session, from);
    for (const { seq, event } of page.records) {
      const more = event === undefined ? "" : printable(events.show(event));
      if (text !== "" && text.length + more.length > limit) return { text, nextSeq, complete: false };
      text += more.length > limit ? `${clip(more, limit).text}\n(cut: read_session gives it whole)\n` : more;
      nextSeq = seq;
    }
    if (!page.complete && page.next !== from) nextSeq = page.next;
    else if (page.records.length > 0 || from !== since) return { text, nextSeq: page.next, complete: true };
    // Nothing came: the number may be one that no record has had yet, and what gets it is not to be passed over.
    else return { text, nextSeq: await lastUpTo(agents, session, since, signal), complete: true };
  }
}

/** The number of the last record, when that is below `since`; else `since`. */
async function lastUpTo(agents: AgentHost, session: string, since: number, signal: AbortSignal): Promise<number> {
  if (since === 0 || (await agents.records(session, since - 1)).records.length > 0) return since;
  for (let last = 0, from = 0; ; ) {
    signal.throwIfAborted();
    const { records, next, complete } = await agents.records(session, from);
    last = records.at(-1)?.seq ?? last;
    if (complete || next === from) return last;
    from = next;
  }
}
