import { parseRunCursor, RUN_LIMIT, RUN_LIMIT_MOST } from "../runs/page.ts";
import { type Route, route } from "../server/route.ts";
import { LIST_STATES } from "../stores/list-query.ts";
import type { SessionContext } from "./context.ts";
import { integer, once, oneOf } from "./query.ts";
import { driveRoutes } from "./session-drive.ts";
import { sessionEventRoutes } from "./session-events.ts";
import { KINDS } from "./session-fields.ts";
import { findRecording, requireSession, SessionList } from "./session-list.ts";
import { outputRoutes } from "./session-output.ts";
import { SESSION, SESSION_PAGE } from "./session-schemas.ts";
import { startRoutes } from "./session-start.ts";

/**
 * The sessions of agents, commands and terminals: the list, each of them, what starts, drives and ends them, what they
 * printed and what was recorded of them. Their chats are routes of their own.
 */
export function sessionRoutes(context: SessionContext): readonly Route[] {
  return [
    sessionList(context),
    sessionEntry(context),
    ...startRoutes(context),
    ...driveRoutes(context),
    ...outputRoutes(context),
    ...sessionEventRoutes(
      {
        prefix: "/api/sessions/:session",
        what: "an agent session",
        find: ({ session = "" }) => findRecording(context, session),
      },
      context,
    ),
  ];
}

function sessionList(context: SessionContext): Route {
  const list = new SessionList(context);
  return route({
    method: "GET",
    pattern: "/api/sessions",
    summary:
      "Sessions of agents, commands and terminals, live or ended, and recordings of other programs, the last started first",
    query: {
      kind: oneOf("kind", "Sessions of this kind only.", KINDS),
      state: oneOf("state", "`live`: sessions that go on. `ended`: all others.", LIST_STATES),
      before: once(
        "before",
        "The `next` of an earlier page. A time in milliseconds alone: sessions started strictly before it.",
        { type: "string" },
        parseRunCursor,
      ),
      limit: integer("limit", `Sessions at most; ${RUN_LIMIT} when absent.`, 1, RUN_LIMIT_MOST),
    },
    answer: SESSION_PAGE,
    conditional: true,
    access: "key",
    handle: async ({ query: { kind, state, before, limit = RUN_LIMIT } }) => {
      const body = await list.page({ kind, state }, before, limit);
      // What the rows say is all that went into them.
      return {
        kind: "json",
        body,
        validity: { facts: [JSON.stringify(body), context.bootNonce], uses: [], settled: true },
      };
    },
  });
}

function sessionEntry(context: SessionContext): Route {
  return route({
    method: "GET",
    pattern: "/api/sessions/:session",
    summary: "A session, by its id or its name",
    query: {},
    answer: SESSION,
    conditional: true,
    access: "key",
    handle: async ({ params: { session = "" } }) => {
      const { shown: body } = await requireSession(context, session);
      return {
        kind: "json",
        body,
        validity: { facts: [JSON.stringify(body), context.bootNonce], uses: [], settled: true },
      };
    },
  });
}
