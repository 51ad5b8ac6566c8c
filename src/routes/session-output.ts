import type { Output } from "../agents/output.ts";
import { Failure } from "../platform/failure.ts";
import { type Route, route, type SseEvent } from "../server/route.ts";
import type { SessionContext } from "./context.ts";
import { integer } from "./query.ts";
import { COUNT, object } from "./schemas.ts";
import { requireSession } from "./session-list.ts";
import { OUTPUT } from "./session-schemas.ts";

const SINCE = integer(
  "since",
  "The byte to read from: the `next` of an earlier read. Absent: all that is kept.",
  0,
  Number.MAX_SAFE_INTEGER,
);

/** What a session printed, as far as it is kept. Nothing is kept of a session from before this start of the server. */
export function outputRoutes(context: SessionContext): readonly Route[] {
  return [outputRoute(context), outputStream(context)];
}

function outputRoute(context: SessionContext): Route {
  return route({
    method: "GET",
    pattern: "/api/sessions/:session/output",
    summary: "The last 500 lines, or 64 KiB, of what a session printed",
    query: { since: SINCE },
    answer: OUTPUT,
    conditional: true,
    access: "key",
    handle: async ({ params: { session = "" }, query: { since } }) => {
      const output = await outputOf(context, session);
      const body = output?.read(since) ?? { text: "", from: since ?? 0, next: since ?? 0 };
      const facts = [JSON.stringify(body), context.bootNonce];
      return { kind: "json", body, validity: { facts, uses: [], settled: true } };
    },
  });
}

function outputStream(context: SessionContext): Route {
  return route({
    method: "GET",
    pattern: "/api/sessions/:session/output/stream",
    summary: "What a session printed and prints, as server-sent events; `end` says that nothing more will come",
    query: { since: SINCE },
    answer: { anyOf: [OUTPUT, object({ next: COUNT })] },
    media: "text/event-stream",
    access: "key",
    handle: async ({ params: { session = "" }, query, lastEventId, signal }) => {
      const since = (lastEventId === undefined ? query.since : placeOf(lastEventId)) ?? 0;
      return { kind: "events", events: outputEvents(await outputOf(context, session), since, signal) };
    },
  });
}

async function* outputEvents(
  output: Output | undefined,
  since: number,
  signal: AbortSignal,
): AsyncGenerator<SseEvent, void> {
  let next = since;
  for await (const chunk of output?.follow(since, signal) ?? []) {
    next = chunk.next;
    yield { id: String(next), data: chunk };
  }
  // Without it a client could not tell a session that has ended from a server that has.
  if (!signal.aborted) yield { event: "end", id: String(next), data: { next } };
}

/** The output that is kept of the session that a path names. @throws Failure not-found */
async function outputOf(context: SessionContext, idOrName: string): Promise<Output | undefined> {
  const { shown } = await requireSession(context, idOrName);
  return context.sessions.output(shown.id);
}

/** The byte that a `Last-Event-ID` of ours names. @throws Failure bad-request */
function placeOf(text: string): number {
  const place = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(place)) return place;
  throw new Failure("bad-request", "Last-Event-ID must be the id of an event of this stream");
}
