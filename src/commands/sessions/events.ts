import { callServer, pathOf, type ServerAddress, serverEvents } from "../../client/api.ts";
import { Failure } from "../../platform/failure.ts";
import { asArray, asNumber, asObject } from "../../platform/read.ts";
import { sessionIdOf } from "../../transcript/names.ts";
import type { OptionValues } from "../arguments.ts";
import type { Context, ExitCode } from "../command.ts";
import { runningServer } from "../server-of.ts";
import { recordPrinter } from "./record-printer.ts";
import { parseRecord, recordedEvent } from "./recorded-event.ts";
import type { OPTIONS } from "./sessions.ts";
import { sessionWord } from "./words.ts";

type Values = OptionValues<typeof OPTIONS>;

/** Records in one read. */
const PAGE_RECORDS = 500;

/** Records of a session. */
interface Page {
  readonly records: readonly unknown[];
  readonly next: number;
  readonly complete: boolean;
}

/** `sessions events`: the records of an agent session; without a server those of a recording, by its id. */
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

function pageReader(server: ServerAddress, session: string): (since: number) => Promise<Page> {
  return async (since) => {
    const path = `${pathOf("", "api", "sessions", session, "events")}?since=${since}&limit=${PAGE_RECORDS}`;
    const page = asObject(await callServer(server, "GET", path));
    const records = asArray(page?.events);
    const next = asNumber(page?.nextSeq);
    if (page === undefined || records === undefined || next === undefined) {
      throw new Failure("failed", "the server's answer holds no records: is it of another version? restart it");
    }
    return { records, next, complete: page.complete === true };
  };
}

/** Reads the recording with the id `text`. @throws Failure not-found */
async function recordingReader(
  { bridge, environment }: Context,
  options: Values,
  text: string,
): Promise<(since: number) => Promise<Page>> {
  const { stores } = await bridge.histories(environment(options.home));
  const store = stores.find(({ agent }) => agent === "daemon");
  const id = sessionIdOf(text);
  const ref = id && (await store?.find(id));
  if (store?.rawEvents === undefined || ref === undefined) {
    throw new Failure("not-found", `nothing is recorded under the id "${text}"; names are known to a server alone`);
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
