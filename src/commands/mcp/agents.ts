import type { SessionDescriptor, Sessions } from "../../agents/sessions.ts";
import { callServer, pathOf, type ServerAddress } from "../../client/api.ts";
import type { AgentHost, AgentRecords, AgentState, StartAgent } from "../../mcp/host.ts";
import { absolute, type Environment } from "../../platform/environment.ts";
import { Failure } from "../../platform/failure.ts";
import { asNumber, asObject, asText } from "../../platform/read.ts";
import type { Store } from "../../stores/store.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";
import type { Context } from "../command.ts";
import { runningServer } from "../server-of.ts";
import { parseRecord, recordedEvent } from "../sessions/recorded-event.ts";
import { pageReader } from "../sessions/recording.ts";
import { shownSession } from "../sessions/shown.ts";

/** What a turn takes, it takes. */
const UNTIL_ENDED = { patienceMs: Number.POSITIVE_INFINITY };
/** Records in one read. */
const PAGE_RECORDS = 500;

/** Agents that are driven by the running server, or, while there is none, by this process; those are ended by `close`. */
export function agentHost(
  context: Context,
  ours: Environment,
  home: string | undefined,
  stores: () => Promise<readonly Store[]>,
): AgentHost & { close(): Promise<void> } {
  let driving: Promise<Sessions> | undefined;
  const here = async (): Promise<AgentHost> => {
    driving ??= context.bridge.drive(ours, () => {});
    driving.catch(() => {
      driving = undefined;
    });
    return drivenHere(await driving, stores);
  };
  /** Who drives a session; one that was started here is driven here, also when a server has come up since. */
  const driverOf = async (session: string): Promise<AgentHost> => {
    const found = await (await driving)?.find(session);
    const isHere = found?.pid !== undefined && started.has(found.id);
    const server = isHere ? undefined : await runningServer(context, home);
    return server === undefined ? here() : drivenByServer(server);
  };
  const started = new Set<string>();
  return {
    async start(what, signal) {
      const server = await runningServer(context, home);
      if (server !== undefined) return drivenByServer(server).start(what, signal);
      const session = await (await here()).start(what, signal);
      started.add(session.id);
      return session;
    },
    prompt: async (session, text, how) => (await driverOf(session)).prompt(session, text, how),
    state: async (session) => (await driverOf(session)).state(session),
    records: async (session, since) => (await driverOf(session)).records(session, since),
    async close() {
      await (await driving?.catch(() => undefined))?.close();
    },
  };
}

function drivenByServer(server: ServerAddress): AgentHost {
  const pathTo = (session: string, ...more: string[]): string => pathOf("", "api", "sessions", session, ...more);
  const state = async (session: string): Promise<AgentState> =>
    shownSession(await callServer(server, "GET", pathTo(session)));
  return {
    state,
    async start(what, signal) {
      const starting = callServer(server, "POST", "/api/sessions", { ...what, cwd: absolute(what.cwd) }, UNTIL_ENDED);
      const answer = await unlessLeft(starting, signal, async (late) => {
        await callServer(server, "DELETE", pathTo(shownSession(late).id), undefined, UNTIL_ENDED);
      });
      return { ...shownSession(answer), seq: asNumber(asObject(asObject(answer)?.prompt)?.seq) };
    },
    async prompt(session, prompt, { interrupt, wait, signal }) {
      const { id } = await state(session);
      const body = { prompt, interrupt, wait };
      const answer = asObject(await callServer(server, "POST", pathTo(id, "prompt"), body, { ...UNTIL_ENDED, signal }));
      const reason = asText(answer?.reason);
      return { id, seq: asNumber(answer?.seq) ?? 0, ...(reason !== undefined && { reason }) };
    },
    async records(session, since) {
      const { records, next, complete } = await pageReader(server, session)(since);
      return { records: records.flatMap((record) => numbered(recordedEvent(record))), next, complete };
    },
  };
}

function drivenHere(sessions: Sessions, stores: () => Promise<readonly Store[]>): AgentHost {
  const find = async (session: string): Promise<SessionDescriptor> => {
    const found = await sessions.find(session);
    if (found === undefined) throw new Failure("not-found", "no such session");
    return found;
  };
  return {
    state: async (session) => stateOf(await find(session)),
    async start({ prompt, ...what }, signal) {
      if (what.permit === "ask") {
        throw new Failure(
          "bad-request",
          "permit ask needs someone to ask: start agent-bridge serve, or choose deny or allow",
        );
      }
      const starting = sessions.start(startOf(what));
      const { id } = await unlessLeft(starting, signal, async (late) => void (await sessions.stop(late.id)));
      const seq = prompt === undefined ? undefined : await firstPrompt(sessions, id, prompt);
      return { ...stateOf(await find(id)), seq };
    },
    async prompt(session, text, { interrupt, wait, signal }) {
      const { id } = await find(session);
      const { seq, ended } = await sessions.prompt(id, text, { interrupt });
      if (!wait) return { id, seq };
      const end = await unlessLeft(ended, signal, async () => {});
      return { id, seq: end.seq, reason: end.reason };
    },
    async records(session, since): Promise<AgentRecords> {
      const { id, kind } = await find(session);
      if (kind !== "agent") throw new Failure("not-found", `a ${kind} session has no events`);
      const store = (await stores()).find(({ agent }) => agent === "daemon");
      const recorded = sessionIdOf(id);
      const ref = recorded && (await store?.find(recorded));
      const page = ref && (await store?.rawEvents?.(ref, since, PAGE_RECORDS));
      if (!page) return { records: [], next: since, complete: true };
      const records = page.events.flatMap(({ line }) => numbered(parseRecord(line)));
      return { records, next: page.nextSeq, complete: page.complete };
    },
  };
}

function startOf({ agent, cwd, name, model, permit }: Omit<StartAgent, "prompt">) {
  return {
    ...({ kind: "agent", agent, cwd: absolute(cwd), permit } as const),
    ...(name !== undefined && { name }),
    ...(model !== undefined && { model }),
  };
}

/** A session whose prompt is refused is not left behind: whoever asked is not told of it. */
async function firstPrompt(sessions: Sessions, id: SessionId, prompt: string): Promise<number> {
  try {
    return (await sessions.prompt(id, prompt)).seq;
  } catch (error) {
    await sessions.stop(id).catch(() => undefined);
    throw error;
  }
}

function stateOf({ id, status, agent, name, cwd, error, permissions = [] }: SessionDescriptor): AgentState {
  return { id, status, agent, name, cwd, error, permissions };
}

function numbered({ seq, event }: ReturnType<typeof recordedEvent>) {
  return seq === undefined ? [] : [{ seq, event }];
}

/** What `work` comes to; left by the signal, `undo` is done to it when it comes all the same. @throws the signal's reason */
function unlessLeft<T>(work: Promise<T>, signal: AbortSignal, undo: (late: T) => Promise<void>): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      reject(signal.reason);
      // Whoever left is told of nothing more.
      work.then(undo).catch(() => {});
    };
    if (signal.aborted) return leave();
    signal.addEventListener("abort", leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}
