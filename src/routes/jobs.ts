import { Failure } from "../platform/failure.ts";
import type { Route } from "../server/route.ts";
import { subagentRoutes } from "./chat.ts";
import type { RouteContext } from "./context.ts";
import { findConversation, standingOf } from "./find.ts";

/** The subagents of jobs, live or recovered. */
export function jobRoutes(context: RouteContext): readonly Route[] {
  const { runs } = context;
  return subagentRoutes(
    {
      prefix: "/api/jobs/:job",
      what: "a job",
      async find({ job: name = "" }, given) {
        const job = await runs.job(name);
        if (job === undefined) throw new Failure("not-found", "no such job");
        return findConversation(context, job, given, standingOf(runs, `job:${name}`, job));
      },
    },
    context,
  );
}
