import { Failure } from "../platform/failure.ts";
import type { Conversation } from "../runs/reader.ts";
import type { Route } from "../server/route.ts";
import { subagentRoutes } from "./chat.ts";
import type { RouteContext } from "./context.ts";
import { conversationWays } from "./export-ways.ts";
import { findConversation, standingOf } from "./find.ts";

/** The subagents of jobs, live or recovered. */
export function jobRoutes(context: RouteContext): readonly Route[] {
  const { runs } = context;
  const jobNamed = async (name: string): Promise<Conversation> => {
    const job = await runs.job(name);
    if (job === undefined) throw new Failure("not-found", "no such job");
    return job;
  };
  return subagentRoutes(
    {
      prefix: "/api/jobs/:job",
      what: "a job",
      async find({ job: name = "" }, given) {
        const job = await jobNamed(name);
        return findConversation(context, job, given, standingOf(runs, `job:${name}`, job));
      },
      ways: async ({ job = "" }) => conversationWays(context, await jobNamed(job)),
    },
    context,
  );
}
