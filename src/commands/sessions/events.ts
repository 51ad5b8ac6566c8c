import { pathOf, serverEvents } from "../../client/api.ts";
import type { SavedSession } from "../../peers/own-sessions.ts";
import { Failure } from "../../platform/failure.ts";
import { sessionIdOf } from "../../transcript/names.ts";
import type { OptionValues } from "../arguments.ts";
import type { Context, ExitCode } from "../command.ts";
import { runningServer } from "../server-of.ts";
import { recordPrinter } from "./record-printer.ts";
import { parseRecord, recordedEvent } from "./recorded-event.ts";
import { pageReader, type RecordPage } from "./recording.ts";
import type { OPTIONS } from "./sessions.ts";
import { sessionWord } from "./words.ts";

type Values = OptionValues<typeof OPTIONS>;

/** Records in one read. */
const PAGE_RECORDS = 500;

/** `sessions events`: the records of an agent session, with or without a server. */
export async function events(context: Context, options: Values, words: readonly string[]): Promise<ExitCode> {
  const asked = sessionWord("events", words);
  const server = await runningServer(context, options.home);
  const print = recordPrinter(context.terminal, options.json);
  const read = server === undefined ? await recordingReader(context, options, asked) : pageReader(server, asked);
  let since = options.since ?? 0;
  for (let complete = false; !complete; ) {
    const page = await read(since);
    for (const record of page.records) await print({ record, ...recordedEvent(record) });
    complete = page.complete || page.next === since;
    since = page.next;
  }
  if (!options.follow) return 0;
  if (server === undefined) {
    throw new Failure("failed", "only a server can follow a session: start one with agent-bridge serve");
  }
  const signal = context.untilInterrupted();
  const path = pathOf("", "api", "sessions", asked, "events", "stream");
  for await (const { event, data } of serverEvents(server, path, { signal, lastEventId: String(since) })) {
    if (event === undefined) await print(parseRecord(data));
  }
  if (!signal.aborted) throw new Failure("failed", "the server has ended, and its sessions with it");
  return 0;
}

/** Reads the recording of the session `asked`. @throws Failure not-found */
async function recordingReader(
  { bridge, environment }: Context,
  options: Values,
  asked: string,
): Promise<(since: number) => Promise<RecordPage>> {
  const ours = environment(options.home);
  const { stores } = await bridge.histories(ours);
  const store = stores.find(({ agent }) => agent === "daemon");
  const saved = savedSession(bridge.ownSessions(ours).read().sessions, asked);
  if (saved !== undefined && saved.kind !== "agent") {
    throw new Failure("not-found", `a ${saved.kind} session has no events`);
  }
  const id = sessionIdOf(saved?.id ?? asked);
  const ref = id && (await store?.find(id));
  if (store?.rawEvents === undefined || ref === undefined) {
    throw new Failure("not-found", `nothing is recorded of a session "${asked}"; see agent-bridge sessions`);
  }
  return async (since) => {
    const page = await store.rawEvents?.(ref, since, PAGE_RECORDS);
    if (page === undefined) return { records: [], next: since, complete: true };
    return {
      records: page.events.map(({ line }) => parseRecord(line).record),
      next: page.nextSeq,
      complete: page.complete,
    };
  };
}

/** The session of that id, else the last one of that name. */
function savedSession(sessions: readonly SavedSession[], asked: string): SavedSession | undefined {
  const named = sessions.filter(({ name }) => name === asked).sort((a, b) => b.startedAt - a.startedAt);
  return sessions.find(({ id }) => id === asked) ?? named[0];
}
