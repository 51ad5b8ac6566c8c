import { callServer, pathOf, type ServerAddress, serverEvents } from "../../client/api.ts";
import { Failure } from "../../platform/failure.ts";
import { asArray, asNumber, asObject } from "../../platform/read.ts";
import type { Terminal } from "../terminal.ts";
import { recordPrinter } from "./record-printer.ts";
import { parseRecord, recordedEvent } from "./recorded-event.ts";
import { goesOn, type ShownSession, shownSession } from "./shown.ts";

/** Records in one read. */
const PAGE_RECORDS = 500;

/** Records of a session. */
export interface RecordPage {
  readonly records: readonly unknown[];
  readonly next: number;
  readonly complete: boolean;
}

/** Reads the records of a session from the server, page by page, each behind the number it is given. */
export function pageReader(server: ServerAddress, session: string): (since: number) => Promise<RecordPage> {
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

/**
 * Prints what is recorded of a session that the server does not drive, until it has ended or the signal aborts: whether it
 * has ended.
 * @throws Failure failed: the server has ended
 */
export async function printRecording(
  terminal: Terminal,
  server: ServerAddress,
  { id }: ShownSession,
  signal: AbortSignal,
): Promise<boolean> {
  const print = recordPrinter(terminal, false);
  const ended = new AbortController();
  const both = AbortSignal.any([signal, ended.signal]);
  const watching = endOf(server, id, both).finally(() => ended.abort());
  // Its failure is told below.
  watching.catch(() => {});
  let last = 0;
  const path = pathOf("", "api", "sessions", id, "events", "stream");
  try {
    for await (const { event, data } of serverEvents(server, path, { signal: both, lastEventId: "0" })) {
      if (event !== undefined) continue;
      const record = parseRecord(data);
      await print(record);
      last = record.seq ?? last;
    }
  } finally {
    ended.abort();
  }
  if (!(await watching)) {
    if (signal.aborted) return false;
    throw new Failure("failed", "the server has ended, and its sessions with it");
  }
  await printRest(server, id, last, print);
  return true;
}

/** Comes back when the session has ended (true), or the signal aborts or the server is gone. */
async function endOf(server: ServerAddress, id: string, signal: AbortSignal): Promise<boolean> {
  for await (const { event } of serverEvents(server, "/api/events", { signal })) {
    if (event !== "hello" && event !== "sessions") continue;
    if (!goesOn(shownSession(await callServer(server, "GET", pathOf("", "api", "sessions", id))))) return true;
  }
  return false;
}

/** Prints what was recorded last, which the stream may not have told yet. */
async function printRest(
  server: ServerAddress,
  id: string,
  from: number,
  print: ReturnType<typeof recordPrinter>,
): Promise<void> {
  const read = pageReader(server, id);
  for (let since = from, complete = false; !complete; ) {
    const page = await read(since);
    for (const record of page.records) await print({ record, ...recordedEvent(record) });
    complete = page.complete || page.next === since;
    since = page.next;
  }
}
