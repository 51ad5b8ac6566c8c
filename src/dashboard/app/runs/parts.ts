import { type Child, h } from "../dom.ts";
import { agentBadge, folder } from "../parts/agent.ts";
import { duration, time } from "../parts/time.ts";
import { bdi, quiet } from "../parts/words.ts";
import { hashOf } from "../places.ts";
import type { Run } from "../wire.ts";
import { askerOf, tookMs } from "./run-facts.ts";

/** What is known of a run in few words: who did it, where, for whom, how long, of which job, and what of it is left. */
export function facts(run: Run, now: number): Child[] {
  const { agent, model, workdir, job, recovered, archived } = run;
  const by = askerOf(run);
  const took = tookMs(run);
  return [
    agent !== null && agentBadge(agent),
    model && quiet(bdi(model)),
    workdir && folder(workdir),
    by && quiet("by ", bdi(by)),
    took !== undefined && quiet(`took ${duration(took)}`),
    run.status === "running" && quiet("for ", time(run.startedAt, now, "since")),
    job &&
      h("a", { class: "job quiet over", href: hashOf({ view: "runs", job }), title: "All runs of this job" }, bdi(job)),
    recovered && h("span", { class: "mark" }, "log lost; from the saved job"),
    archived && h("span", { class: "mark" }, "archived"),
  ];
}
