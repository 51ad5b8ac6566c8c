import { callServer, pathOf, type ServerAddress } from "../../client/api.ts";
import { Failure } from "../../platform/failure.ts";
import { asArray, asObject } from "../../platform/read.ts";
import type { Context } from "../command.ts";
import { type Interrupts, unlessInterrupted } from "../interrupts.ts";
import { withProgress } from "../progress.ts";
import { type ShownSession, shownSession } from "./shown.ts";

/** What a session is started with, as the API takes it. */
export interface StartBody {
  readonly kind?: string | undefined;
  readonly agent?: string | undefined;
  readonly cwd: string;
  readonly name?: string | undefined;
  readonly [field: string]: unknown;
}

/**
 * Has the server start a session, and gives its answer. Interrupted meanwhile, the session does not stay.
 * @throws Failure: the server's refusal · failed: interrupted
 */
export async function startSession(
  { terminal }: Pick<Context, "terminal">,
  server: ServerAddress,
  body: StartBody,
  { doing, interrupts }: { readonly doing: string; readonly interrupts: Interrupts },
): Promise<unknown> {
  const before = new Set((await liveSessions(server)).map(({ id }) => id));
  // An agent that is started for the first time may take minutes.
  const starting = callServer(server, "POST", "/api/sessions", body, { patienceMs: Number.POSITIVE_INFINITY });
  const answer = await withProgress(terminal, doing, () => unlessInterrupted(interrupts, starting));
  if (answer !== undefined) return answer;
  const ours = (await liveSessions(server)).filter((session) => !before.has(session.id) && isOf(body, session));
  const [session] = ours;
  if (session === undefined || ours.length > 1) {
    throw new Failure("failed", "interrupted: what was being started may go on; see agent-bridge sessions --live");
  }
  await withProgress(terminal, "Ending the session", () =>
    callServer(server, "DELETE", pathOf("", "api", "sessions", session.id), undefined, {
      patienceMs: Number.POSITIVE_INFINITY,
    }),
  );
  throw new Failure("failed", `interrupted: the session ${session.id}, which was being started, was ended`);
}

async function liveSessions(server: ServerAddress): Promise<readonly ShownSession[]> {
  const listed = asObject(await callServer(server, "GET", "/api/sessions?state=live&limit=500"));
  return (asArray(listed?.sessions) ?? []).map(shownSession);
}

function isOf({ kind = "agent", agent, cwd, name }: StartBody, session: ShownSession): boolean {
  return session.kind === kind && session.agent === agent && session.cwd === cwd && session.name === name;
}
