import { join } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import type { Timer } from "../../platform/timer.ts";
import type { SessionId } from "../../transcript/names.ts";
import type { Recording } from "../recording.ts";
import { type RecordingFiles, recordingFiles } from "./file.ts";
import type { LossTold } from "./loss-book.ts";
import { Recorder } from "./recorder.ts";
import { tailOf } from "./tail.ts";

/** What a session is recorded with. */
export interface RecordingParts extends LossTold {
  /** The folder of all recordings: `ownRecordings` of the environment. */
  readonly folder: string;
  readonly sessionId: SessionId;
  readonly clock: Clock;
  readonly timer: Timer;
  /** What is left out is the machine's. */
  readonly files?: RecordingFiles;
}

/**
 * The recording of a session, `<folder>/<id>/events.jsonl`, to be gone on with. Nothing is made before there is a record.
 * Never fails: what can't be read or written is told as a loss, and tried again as long as the session goes on.
 */
export async function openRecording(parts: RecordingParts): Promise<Recording> {
  const { folder, sessionId, clock, timer, files = recordingFiles } = parts;
  const path = join(folder, sessionId, "events.jsonl");
  const seq = await lastSeq(path, files);
  return new Recorder({
    path,
    sessionId,
    seq,
    clock,
    timer,
    files,
    lost: (loss) => parts.lost(loss),
    late: (loss) => parts.late(loss),
  });
}

/** A file that can't be read now is looked at again before it is written to; what was numbered by then is numbered anew. */
async function lastSeq(path: string, files: RecordingFiles): Promise<number> {
  try {
    const file = files.look(path);
    if (file === undefined) return 0;
    try {
      return (await tailOf(file)).seq;
    } finally {
      file.close();
    }
  } catch {
    return 0;
  }
}
