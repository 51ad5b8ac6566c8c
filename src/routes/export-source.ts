import { type ExportDocument, type ExportedChat, type ExportOptions, exportDocument } from "../export/document.ts";
import { NoRoom } from "../export/spool.ts";
import { errorCode, Failure } from "../platform/failure.ts";

/** Which source was asked for: `auto` is the agent's own store, else our recording. */
export const EXPORT_SOURCES = ["auto", "native", "daemon"] as const;
export type AskedSource = (typeof EXPORT_SOURCES)[number];

/** The ways to one session's chat. A way that there is not gives a Failure that says why. */
export interface ExportWays {
  /** @throws Failure not-found: no native strategy, no transcript there, … · conflict, unreadable */
  native(): Promise<ExportedChat>;
  /** @throws Failure not-found: nothing was recorded, … */
  daemon(): Promise<ExportedChat>;
  /** Whether the agent's own store has come to have something of the chat to show. */
  shows(native: ExportedChat): Promise<boolean>;
  /** What was asked for is a recording: that alone is what `auto` means. */
  readonly isRecording?: true;
}

type Tools = Parameters<typeof exportDocument>[2];

/**
 * Exports from the source that was asked for. With `auto`: native, else (also when nothing is there yet, or reading it fails)
 * the recording. An error that was not foreseen is no reason to read another source: it is passed on.
 * @throws Failure, with `auto` one that says what is wrong with each of them · the signal's reason when it aborts
 */
export async function exportFrom(
  ways: ExportWays,
  asked: AskedSource,
  options: ExportOptions,
  tools: Tools,
): Promise<ExportDocument> {
  if (asked === "auto" && !ways.isRecording) return exportEither(ways, options, tools);
  try {
    const chat = asked === "native" ? await ways.native() : await ways.daemon();
    return await exportDocument(chat, options, tools);
  } catch (error) {
    throw reasonIn(error, tools);
  }
}

async function exportEither(ways: ExportWays, options: ExportOptions, tools: Tools): Promise<ExportDocument> {
  let native: Failure | ExportedChat;
  try {
    native = await ways.native();
    if (await ways.shows(native)) return await exportDocument(native, options, tools);
  } catch (error) {
    native = reasonIn(error, tools);
  }
  try {
    return await exportDocument(await ways.daemon(), options, tools);
  } catch (error) {
    const daemon = reasonIn(error, tools);
    if (native instanceof Failure) throw bothFail(native, daemon);
    // Both have nothing to show; but where a recording is there and can't be read, nothing says so.
    if (daemon.kind === "not-found") return exportDocument(native, options, tools);
    throw bothFail(new Failure("not-found", "nothing is in its transcript yet"), daemon);
  }
}

const TELLING: readonly string[] = ["not-found", "conflict", "unreadable"];

/** Why a source can't be exported, so that another may be instead. @throws the error when it is no such reason */
function reasonIn(error: unknown, { signal }: Tools): Failure {
  signal?.throwIfAborted();
  // It would be no other with another source.
  if (error instanceof NoRoom) throw error;
  if (error instanceof Failure && TELLING.includes(error.kind)) return error;
  const code = error instanceof Failure ? undefined : errorCode(error);
  if (code === undefined || !/^E[A-Z0-9]+$/.test(code)) throw error;
  return new Failure("unreadable", `it can't be read (${code})`, error);
}

function bothFail(native: Failure, daemon: Failure): Failure {
  const { kind } = native.kind === "not-found" ? daemon : native;
  const reasons = `the agent's own store: ${native.message}; our recording: ${daemon.message}`;
  return new Failure(kind, reasons, new AggregateError([native, daemon]));
}
