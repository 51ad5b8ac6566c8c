import type { Run } from "../../../src/dashboard/app/wire.ts";

/** A run as the API gives it; `more` says what is another than usual. */
export function run(name: string, startedAt: number, more: Partial<Run> = {}): Run {
  return {
    name,
    agent: "claude",
    header: "",
    startedAt,
    updatedAt: startedAt + 5_000,
    status: "done",
    last: "finished after 5s · done",
    task: "Say hello",
    by: "you",
    workdir: "/srv/shop",
    continues: null,
    archived: false,
    recovered: false,
    hasLog: true,
    ...more,
  };
}
