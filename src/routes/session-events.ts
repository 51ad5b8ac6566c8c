import { Failure } from "../platform/failure.ts";
import type { Timer } from "../platform/timer.ts";
import { type Answer, type QueryParameter, type Route, route } from "../server/route.ts";
import { anyNumber, integer } from "./query.ts";
import { type Recorded, recordedEvents, SharedWires, type StreamTools } from "./recorded-events.ts";
import { RECORD, RECORDS } from "./schemas.ts";

/** Records in one page, when nothing is said. */
const USUAL_LIMIT = 500;
const MOST_LIMIT = 2000;
const JSON_TYPE = "application/json; charset=utf-8";

/** Where the records of sessions hang in the tree of routes. */
export interface EventsMount {
  /** The path before `/events`, with its parameters. */
  readonly prefix: string;
  /** What the path names, for descriptions: "a session". */
  readonly what: string;
  /**
   * The session that the path names.
   * @throws Failure not-found: there is no such session, or it is of a kind that is not recorded
   */
  find(params: { readonly [name: string]: string }): Promise<Recorded>;
}

const SINCE = anyNumber(
  "since",
  // Other programs may number their records as they like.
  "Only records behind this number: the `nextSeq` of an earlier page. Absent or 0: from the first on.",
);
const STREAM_SINCE: QueryParameter<number> = {
  ...SINCE,
  description: "Only records behind this number, unless a Last-Event-ID is given. Absent or 0: from the first on.",
};
const LIMIT = integer(
  "limit",
  `At most so many records, ${USUAL_LIMIT} when absent. Fewer come when they are long.`,
  1,
  MOST_LIMIT,
);

/** The routes of a session's records, as they stand in its recording: a page of them, and all of them as they come. */
export function sessionEventRoutes(mount: EventsMount, { timer }: { readonly timer: Timer }): readonly Route[] {
  return [pageRoute(mount), streamRoute(mount, { timer, wires: new SharedWires() })];
}

function pageRoute({ prefix, what, find }: EventsMount): Route {
  return route({
    method: "GET",
    pattern: `${prefix}/events`,
    summary: `The records of ${what} as they stand in its recording`,
    query: { since: SINCE, limit: LIMIT },
    answer: RECORDS,
    conditional: true,
    access: "key",
    handle: async ({ params, query: { since = 0, limit = USUAL_LIMIT } }) => pageOf(await find(params), since, limit),
  });
}

function streamRoute({ prefix, what, find }: EventsMount, tools: StreamTools): Route {
  return route({
    method: "GET",
    pattern: `${prefix}/events/stream`,
    summary: `The records of ${what} as they come, as server-sent events: each one's id is its number`,
    query: { since: STREAM_SINCE },
    answer: RECORD,
    media: "text/event-stream",
    access: "key",
    handle: async ({ params, query, lastEventId, signal }) => {
      const since = lastEventId ? SINCE.read([lastEventId]) : (query.since ?? 0);
      const recorded = await find(params);
      return { kind: "events", events: recordedEvents(recorded, since, tools, signal) };
    },
  });
}

async function pageOf({ sessionId, store, ref, standing }: Recorded, since: number, limit: number): Promise<Answer> {
  if (store.rawEvents === undefined) throw new Failure("not-found", "this session has no recording");
  if (ref === undefined) return { kind: "json", body: { sessionId, events: [], nextSeq: 0, complete: true } };
  const { events, nextSeq, complete, uses, settled } = await store.rawEvents(ref, since, limit);
  // Put together by hand: parsed and written anew, a record might not stand as it was (numbers beyond 2^53).
  const list = events.map(({ line }) => line).join(",");
  const body = `{"sessionId":${JSON.stringify(sessionId)},"events":[${list}],"nextSeq":${nextSeq},"complete":${complete}}`;
  // A path may name the session, and come to name another: without `standing` that is looked at each time.
  return { kind: "text", type: JSON_TYPE, body, validity: { uses, settled, facts: [sessionId], ...standing } };
}
