import { COUNT, ID, list, object, orNull, TEXT, TIME } from "./schemas.ts";
import { KINDS } from "./session-fields.ts";

const OPTION = object({ optionId: TEXT, name: TEXT, kind: TEXT });

/** A question that waits for an answer. */
export const PERMISSION = object(
  { toolCallId: TEXT, options: list(OPTION) },
  { title: TEXT, input: { ...TEXT, description: "What the call is given: JSON, cut after 4,000 characters." } },
);

/** A session of an agent, a command or a terminal. */
export const SESSION = object(
  {
    id: ID,
    kind: { type: "string", enum: KINDS },
    status: {
      type: "string",
      enum: ["starting", "idle", "busy", "awaiting-input", "ended", "failed", "interrupted"],
      description:
        "The first four are live. `failed` ended by itself and badly, `interrupted` lost the server that had started it.",
    },
    cwd: { ...TEXT, description: "The folder it runs in; empty where a recording does not say." },
    startedAt: TIME,
  },
  {
    agent: { ...TEXT, description: "Of agent sessions that this program started." },
    name: TEXT,
    model: TEXT,
    argv: list(TEXT),
    columns: { ...COUNT, description: "Of a terminal: its size now." },
    rows: COUNT,
    permit: { type: "string", enum: ["ask", "deny", "allow"] },
    nativeSessionId: { ...TEXT, description: "The id that the agent's own store gives it." },
    endedAt: TIME,
    restartedFrom: { ...ID, description: "The session that this one goes on from." },
    pid: COUNT,
    exitCode: { type: "integer" },
    signal: TEXT,
    error: { ...TEXT, description: "Why it failed." },
    permissions: {
      ...list(PERMISSION),
      description: "Questions that wait for an answer, oldest first.",
    },
  },
);

/** A prompt that was taken. */
export const ACCEPTED = object({ id: ID, seq: { ...COUNT, description: "The number of the prompt's record." } });

/** How a turn ended. */
export const TURN_END = object({
  reason: {
    ...TEXT,
    description: "`completed`, `cancelled`, `error`, …; `awaiting-input` while a question waits for its answer.",
  },
  seq: { ...COUNT, description: "The number of the last record of the turn." },
});

/** A session that was just started, with its first prompt. */
export const STARTED = { allOf: [SESSION, object({}, { prompt: ACCEPTED })] };

/** A part of the list of sessions. */
export const SESSION_PAGE = object({ sessions: list(SESSION, 500), next: orNull(TEXT), total: COUNT });

/** The end of what a session printed. */
export const OUTPUT = object(
  {
    text: TEXT,
    from: { ...COUNT, description: "Where `text` begins, in bytes since the session began." },
    next: { ...COUNT, description: "The `since` of the next read." },
  },
  { cut: { const: true, description: "Something between `since` and `from` is no longer kept." } },
);
