import { COUNT, list, object, orNull, TEXT, TIME } from "./schemas.ts";

const STATUS = { type: "string", enum: ["running", "done", "failed", "interrupted"] };
const YES_OR_NO = { type: "boolean" };

/** A run in a list. */
export const RUN = {
  ...object(
    {
      name: TEXT,
      agent: orNull(TEXT),
      header: { ...TEXT, description: "The first line of its log." },
      startedAt: TIME,
      updatedAt: TIME,
      status: STATUS,
      last: { ...TEXT, maxLength: 300, description: "The last entry of its log." },
      task: { ...TEXT, maxLength: 300, description: "The beginning of its prompt." },
      by: orNull(TEXT),
      workdir: orNull(TEXT),
      continues: orNull(TEXT),
      archived: YES_OR_NO,
      recovered: { ...YES_OR_NO, description: "A saved job whose log is lost." },
      hasLog: YES_OR_NO,
    },
    { job: TEXT, title: orNull(TEXT), model: orNull(TEXT), session: orNull(TEXT), sessionId: orNull(TEXT) },
  ),
  description: "Whatever else its metadata holds stands beside these.",
};

/** A part of the list of runs. */
export const RUN_PAGE = object({ runs: list(RUN, 500), next: orNull(TEXT), total: COUNT });

/** Jobs by name. */
export const JOBS = {
  type: "object",
  description: "The jobs of the runs listed, by name.",
  additionalProperties: object({ name: TEXT, status: STATUS }),
};

/** A part of a run's log. */
export const LOG = object(
  { text: TEXT, next: { ...COUNT, description: "The `from` of the next read, in bytes." }, size: COUNT },
  { recovered: { const: true }, hasLog: { const: false } },
);

/** What changed in the list of runs. */
export const RUN_CHANGE = object(
  { generation: COUNT, ids: { ...list(TEXT, 100), description: "Names of runs." } },
  { more: { const: true } },
);
