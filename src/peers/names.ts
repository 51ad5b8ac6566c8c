import { jobNameOf } from "../runs/job.ts";

/** Characters of a peer's name. */
export const NAME_CHARACTERS = 128;

/** `value` as the name of a peer or of a session of ours, when it is one that a URL can hold: as the name of a job. */
export function peerNameOf(value: unknown): string | undefined {
  return jobNameOf(value);
}
