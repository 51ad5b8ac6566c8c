import { hasEnded } from "../peers/own-records.ts";
import { Failure } from "../platform/failure.ts";
import { recordedNews } from "../routes/recorded-events.ts";
import { savedSessions } from "../routes/saved-sessions.ts";
import type { RawEvent, RawEventPage, SessionRef } from "../stores/store.ts";
import type { Cursor } from "../transcript/cursor.ts";
import { keptAlive } from "./alive.ts";
import { flag, type OptionValues, wholeNumber } from "./arguments.ts";
import { findAsked } from "./asked.ts";
import { type Context, command, type ExitCode, first, home, json, ONE_SESSION } from "./command.ts";
import { recordPrinter } from "./sessions/record-printer.ts";
import { parseRecord } from "./sessions/recorded-event.ts";

/** The options of `events`, for every command that has it. */
export const EVENTS_OPTIONS = {
  since: wholeNumber("SEQ", "only those behind this one", [0, Number.MAX_SAFE_INTEGER]),
  follow: flag("go on with what is recorded from now on, until Ctrl-C", "f"),
  json: { ...json, help: "print the records as JSON, one a line" },
};

type Values = OptionValues<typeof EVENTS_OPTIONS & { readonly home: typeof home }>;

/** `events`: what was recorded of a session. */
export const events = command({
  name: "events",
  summary: "print what was recorded of a session; with -f follow it",
  operands: { ...ONE_SESSION, completes: first("recording") },
  options: { ...EVENTS_OPTIONS, home },
  notes: [
    "ID is as for show. Recorded are the sessions of agents that agent-bridge, or another program in its form, has run.",
    "A recording that goes away while it is followed is waited for as long as its session is at work, else for five seconds; then events exits 1.",
  ],
  examples: [
    ["events shop", "what the session called shop did"],
    ["events -f --json --since 40 sess_4f0c", "what follows record 40, for a program"],
  ],
  run: (context, { options, operands: [asked = ""] }) => printEvents(context, options, asked),
});

/** Prints the records of the session `asked`. @throws Failure as `askedChat` does · not-found: nothing is recorded of it */
export async function printEvents(context: Context, options: Values, asked: string): Promise<ExitCode> {
  const { terminal, bridge, environment } = context;
  const { since = 0, follow } = options;
  const found = await findAsked(context, environment(options.home), asked, undefined);
  const print = recordPrinter(terminal, options.json);
  const show = async (records: readonly RawEvent[]): Promise<void> => {
    for (const { line } of records) await print(parseRecord(line));
  };
  const recorded = await recordingOf(found, follow);
  if (!follow) {
    await wholeRecording(recorded, since, show);
    return 0;
  }
  const signal = context.untilInterrupted();
  const mayCome = (): boolean => {
    const id = recorded.ref?.id ?? found.chat.ref.id;
    return savedSessions(bridge.ownSessions(environment(options.home))).some(
      (each) => each.id === id && !hasEnded(each),
    );
  };
  await keptAlive(async () => {
    for await (const news of recordedNews(unlessGone(recorded, mayCome), since, bridge.timer, signal)) {
      if (news !== "reset") await show(news.events);
      else await terminal.err("the recording was replaced; this is its beginning\n");
    }
  });
  return 0;
}

/** How often a recording that has gone is looked for again before it is given up: five seconds. */
const GONE_LOOKS = 50;

/** A recording that is waited for, once it is gone, only while it `mayCome` again: its session is at work. */
function unlessGone(recorded: Recording, mayCome: () => boolean): Recording {
  let misses = 0;
  const locate = async (): Promise<SessionRef | undefined> => {
    const ref = await recorded.locate();
    misses = ref === undefined ? misses + 1 : 0;
    if (misses < GONE_LOOKS) return ref;
    misses = 0;
    if (mayCome()) return undefined;
    throw new Failure("failed", "the recording is gone, so nothing more will come of it");
  };
  return { ...recorded, locate };
}

type Recording = Parameters<typeof recordedNews>[0];
type Found = Awaited<ReturnType<typeof findAsked>>;

/** The recording of a session; with `mayCome` also one of a session of ours of which nothing is recorded yet. @throws Failure not-found */
async function recordingOf({ ways, chat, histories }: Found, mayCome: boolean): Promise<Recording> {
  const locate = async (): Promise<SessionRef | undefined> => {
    try {
      return (await ways.daemon()).ref;
    } catch (error) {
      if (error instanceof Failure && error.kind === "not-found") return undefined;
      throw error;
    }
  };
  const store = histories.stores.find(({ agent }) => agent === "daemon");
  const isOurs = chat.ref.agent === "daemon";
  if (mayCome && isOurs && store !== undefined) return { store, ref: await locate(), locate };
  return { ...(await ways.daemon()), locate };
}

/** Records in one read. */
const PAGE_RECORDS = 500;

async function wholeRecording(
  { store, ref }: Recording,
  since: number,
  show: (records: readonly RawEvent[]) => Promise<void>,
): Promise<void> {
  for (let from: number | Cursor = since, complete = ref === undefined; ref !== undefined && !complete; ) {
    const page: RawEventPage | undefined = await store.rawEvents?.(ref, from, PAGE_RECORDS);
    if (page === undefined) return;
    await show(page.events);
    complete = page.complete;
    from = page.next;
  }
}
