import type { SessionDescriptor, TurnEnd } from "../agents/sessions.ts";
import { Failure } from "../platform/failure.ts";
import { type Answer, type Route, route } from "../server/route.ts";
import type { SessionId } from "../transcript/names.ts";
import { type BodyFields, type BodyOf, bodySchema, readBody } from "./body.ts";
import type { SessionContext } from "./context.ts";
import { ANSWER_FIELDS, checkSize, INPUT_FIELDS, PROMPT_FIELDS } from "./session-fields.ts";
import { requireOwn, requireSession } from "./session-list.ts";
import { ACCEPTED, SESSION, TURN_END } from "./session-schemas.ts";

const PATTERN = "/api/sessions/:session";

/** What drives sessions, and ends them. */
export function driveRoutes(context: SessionContext): readonly Route[] {
  const { sessions } = context;
  return [
    promptRoute(context),
    driveRoute(
      context,
      "cancel",
      "Cancels the turn that runs, if one does, and answers when it has ended",
      {},
      ({ id }) => sessions.cancel(id),
    ),
    driveRoute(
      context,
      "input",
      "Types into a command or terminal session, or changes a terminal's size",
      INPUT_FIELDS,
      ({ id }, body) => {
        checkSize(body);
        if (Object.keys(body).length === 0) throw new Failure("bad-request", "give text, end, or columns and rows");
        return sessions.input(id, body);
      },
    ),
    driveRoute(context, "permissions", "Answers a question for permission", ANSWER_FIELDS, ({ id }, body) =>
      sessions.answer(id, body.toolCallId, body.optionId),
    ),
    stopRoute(context),
  ];
}

function promptRoute(context: SessionContext): Route {
  return route({
    method: "POST",
    pattern: `${PATTERN}/prompt`,
    summary: "Gives an agent session something to do; 202 once it is taken, with `wait` 200 once the turn has ended",
    query: {},
    body: bodySchema(PROMPT_FIELDS),
    answer: ACCEPTED,
    status: 202,
    others: { 200: { description: "With `wait`: how the turn ended.", schema: TURN_END } },
    refuses: [409],
    access: "key",
    handle: async ({ params: { session = "" }, body, signal }) => {
      const { prompt, interrupt = false, wait = false } = readBody(PROMPT_FIELDS, body);
      const { id } = await requireOwn(context, session);
      const { seq, ended } = await context.sessions.prompt(id, prompt, { interrupt });
      if (!wait) return { kind: "json", status: 202, body: { id, seq } };
      const end = await endOrLeft(ended, signal);
      return { kind: "json", body: { reason: end.reason, seq: end.seq } };
    },
  });
}

/** A route that does something with one of our sessions and answers what it is then. */
function driveRoute<F extends BodyFields>(
  context: SessionContext,
  verb: string,
  summary: string,
  fields: F,
  drive: (session: SessionDescriptor, body: BodyOf<F>) => Promise<void>,
): Route {
  return route({
    method: "POST",
    pattern: `${PATTERN}/${verb}`,
    summary,
    query: {},
    body: bodySchema(fields),
    answer: SESSION,
    refuses: [409],
    access: "key",
    handle: async ({ params: { session = "" }, body }) => {
      const given = readBody(fields, body);
      const found = await requireOwn(context, session);
      await drive(found, given);
      return asItIsNow(context, found.id);
    },
  });
}

function stopRoute(context: SessionContext): Route {
  return route({
    method: "DELETE",
    pattern: PATTERN,
    summary: "Ends a session if it is live; it stays listed as ended",
    query: {},
    answer: SESSION,
    refuses: [409],
    access: "key",
    handle: async ({ params: { session = "" } }) => {
      const { id } = await requireOwn(context, session);
      return { kind: "json", body: await context.sessions.stop(id) };
    },
  });
}

async function asItIsNow(context: SessionContext, id: SessionId): Promise<Answer> {
  return { kind: "json", body: (await requireSession(context, id)).shown };
}

/** How the turn ends. A client that goes away is waited for no longer; its turn goes on. @throws the signal's reason */
function endOrLeft(ended: Promise<TurnEnd>, signal: AbortSignal): Promise<TurnEnd> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    ended.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}
