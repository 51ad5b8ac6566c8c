import type { Child } from "../dom.ts";
import { standsAs } from "../parts/own-sessions.ts";
import { time } from "../parts/time.ts";
import { bdi, quiet, statusBadge } from "../parts/words.ts";
import type { OwnSession } from "../wire.ts";
import { exitWords, isOurs, PERMITS } from "./standing.ts";

/** How a session stands, on one line. `now`: ms since the epoch. */
export function statusLine(session: OwnSession, now: number): readonly Child[] {
  const { startedAt, endedAt, model, permit } = session;
  const facts: Child[] = [
    endedAt === undefined ? ["started ", time(startedAt, now)] : ["ended ", time(endedAt, now)],
    exitWords(session),
    model !== undefined && bdi(model),
    permit !== undefined &&
      `permission: ${PERMITS.find((each) => each.permit === permit)?.name.toLowerCase() ?? permit}`,
    session.status === "interrupted" && "the server that had started it ended",
    !isOurs(session) && "another program recorded it: it can only be read here",
  ];
  return [statusChip(session), ...facts.filter(Boolean).map((fact) => quiet(fact))];
}

/** A session's status, with its mark. */
export function statusChip(session: Pick<OwnSession, "status" | "kind">): HTMLElement {
  return statusBadge(standsAs(session));
}
