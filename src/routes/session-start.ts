import type { SessionDescriptor, Sessions } from "../agents/sessions.ts";
import { Failure } from "../platform/failure.ts";
import { type Answer, type Route, route } from "../server/route.ts";
import { bodySchema, readBody } from "./body.ts";
import type { SessionContext } from "./context.ts";
import { START_FIELDS, startOf } from "./session-fields.ts";
import { isSessionId, requireOwn } from "./session-list.ts";
import { SESSION, STARTED } from "./session-schemas.ts";

/** What starts sessions. */
export function startRoutes(context: SessionContext): readonly Route[] {
  return [startRoute(context), restartRoute(context)];
}

function startRoute(context: SessionContext): Route {
  const { sessions } = context;
  return route({
    method: "POST",
    pattern: "/api/sessions",
    summary: "Starts a session; with `prompt` its first turn too",
    query: {},
    body: bodySchema(START_FIELDS, {
      anyOf: [{ required: ["agent"] }, { required: ["kind", "argv"] }],
    }),
    answer: STARTED,
    status: 201,
    refuses: [409],
    access: "key",
    handle: async ({ body }) => {
      const { what, prompt } = await startOf(readBody(START_FIELDS, body));
      await checkName(context, what.name);
      const started = await sessions.start(what);
      if (prompt === undefined) return created(started);
      const accepted = await firstPrompt(sessions, started, prompt);
      return created((await sessions.find(started.id)) ?? started, { prompt: accepted });
    },
  });
}

function restartRoute(context: SessionContext): Route {
  return route({
    method: "POST",
    pattern: "/api/sessions/:session/restart",
    summary:
      "Ends a session if it is live, and starts another like it that goes on with its conversation where the agent can",
    query: {},
    body: bodySchema({}),
    answer: SESSION,
    status: 201,
    refuses: [409],
    access: "key",
    handle: async ({ params: { session = "" }, body }) => {
      readBody({}, body);
      const { id } = await requireOwn(context, session);
      return created(await context.sessions.restart(id));
    },
  });
}

function created(session: SessionDescriptor, more: object = {}): Answer {
  const headers = { Location: `/api/sessions/${session.id}` };
  return { kind: "json", status: 201, body: { ...session, ...more }, headers };
}

/** A session whose prompt is refused is not left behind: whoever asked is not told of it. */
async function firstPrompt(
  sessions: Sessions,
  { id }: SessionDescriptor,
  text: string,
): Promise<{ readonly id: string; readonly seq: number }> {
  try {
    const { seq } = await sessions.prompt(id, text);
    return { id, seq };
  } catch (error) {
    await sessions.stop(id).catch(() => undefined);
    throw error;
  }
}

/** @throws Failure conflict: under that name another session would be found, since an id goes before a name */
async function checkName(context: SessionContext, name: string | undefined): Promise<void> {
  if (name === undefined || !(await isSessionId(context, name))) return;
  throw new Failure("conflict", "the name is the id of another session: choose another name");
}
