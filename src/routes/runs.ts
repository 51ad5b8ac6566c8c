import { Failure } from "../platform/failure.ts";
import type { LogRead } from "../runs/inventory.ts";
import { CHUNK_BYTES } from "../runs/log-file.ts";
import { parseRunCursor, RUN_LIMIT, RUN_LIMIT_MOST } from "../runs/page.ts";
import type { FoundRun } from "../runs/reader.ts";
import { type Answer, type Route, route } from "../server/route.ts";
import { type ChatMount, chatRoutes } from "./chat.ts";
import type { RouteContext } from "./context.ts";
import { conversationWays } from "./export-ways.ts";
import { findConversation, standingOf } from "./find.ts";
import { integer, once } from "./query.ts";
import { LOG, RUN_PAGE } from "./run-schemas.ts";

/** The list of runs, their logs and their chats. */
export function runRoutes(context: RouteContext): readonly Route[] {
  const mount: ChatMount = {
    prefix: "/api/runs/:name",
    what: "a run",
    async find({ name = "" }, given) {
      const run = await findRun(context, name);
      return findConversation(context, run, given, standingOf(context.runs, `run:${name}`, run));
    },
    ways: async ({ name = "" }) => conversationWays(context, await findRun(context, name)),
  };
  return [runList(context), runLog(context), ...chatRoutes(mount, context)];
}

function runList({ runs, bootNonce }: RouteContext): Route {
  return route({
    method: "GET",
    pattern: "/api/runs",
    summary: "Every run, active or archived, and every job whose log is lost, the last started first",
    query: {
      before: once(
        "before",
        "The `next` of an earlier page. A time in milliseconds alone: runs started strictly before it.",
        { type: "string" },
        parseRunCursor,
      ),
      limit: integer("limit", `Runs at most; ${RUN_LIMIT} when absent.`, 1, RUN_LIMIT_MOST),
    },
    answer: RUN_PAGE,
    conditional: true,
    access: "key",
    handle: async ({ query: { before, limit } }) => {
      const body = await runs.page(before, limit);
      // What runs on shows in the rows themselves, so they stand for all that went into them.
      return { kind: "json", body, validity: { facts: [JSON.stringify(body), bootNonce], uses: [], settled: true } };
    },
  });
}

function runLog(context: RouteContext): Route {
  return route({
    method: "GET",
    pattern: "/api/runs/:name",
    summary: `The log of a run, at most ${CHUNK_BYTES / 1024} KiB at once`,
    query: {
      from: integer(
        "from",
        "The byte to read from: the `next` of an earlier read. Behind the end there is nothing.",
        0,
        Number.MAX_SAFE_INTEGER,
      ),
    },
    answer: LOG,
    conditional: true,
    access: "key",
    handle: async ({ params: { name = "" }, query: { from = 0 } }) => {
      const read = await context.runs.log(name, from);
      if (read === undefined) throw noSuchRun();
      return logAnswer(read, from, standingOf(context.runs, `run:${name}`, read.run));
    },
  });
}

function logAnswer({ run, chunk, stamp }: LogRead, from: number, standing: ReturnType<typeof standingOf>): Answer {
  if (stamp === undefined) {
    const { recovered, hasLog } = run.summary;
    return { kind: "json", body: { ...chunk, recovered, hasLog } };
  }
  // What waits for the rest of a character is shown once the run is over, which no file need tell.
  const settled = chunk.next >= chunk.size || chunk.size - from > CHUNK_BYTES;
  return { kind: "json", body: chunk, validity: { uses: [stamp], settled, ...standing } };
}

async function findRun({ runs }: RouteContext, name: string): Promise<FoundRun> {
  const run = await runs.run(name);
  if (run === undefined) throw noSuchRun();
  return run;
}

function noSuchRun(): Failure {
  return new Failure("not-found", "no such run");
}
