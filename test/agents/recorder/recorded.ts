import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { SessionEvent } from "../../../src/agents/event.ts";
import type { RecordingFile, RecordingFiles } from "../../../src/agents/recorder/file.ts";
import { recordingFiles } from "../../../src/agents/recorder/file.ts";
import { openRecording } from "../../../src/agents/recorder/open.ts";
import type { Loss, Recording } from "../../../src/agents/recording.ts";
import type { JsonObject } from "../../../src/platform/read.ts";
import { temporaryFolder } from "../../platform/folder.ts";
import { sid } from "../../support/fake-store.ts";
import { FakeTime } from "../../support/fake-time.ts";

/** The id of every session here. */
export const SESSION = sid("sess_11aa22bb");

/** A folder of recordings with one session, and the time that passes there. */
export class Desk {
  readonly folder: string;
  readonly time = new FakeTime();
  readonly losses: Loss[] = [];
  /** What had to wait. */
  readonly delays: Loss[] = [];
  readonly #t: TestContext;

  constructor(t: TestContext) {
    this.#t = t;
    this.folder = join(temporaryFolder(t), "sessions");
  }

  get file(): string {
    return join(this.folder, SESSION, "events.jsonl");
  }

  async open(files?: RecordingFiles): Promise<Recording> {
    const { folder, time } = this;
    const lost = (loss: Loss): void => {
      this.losses.push(loss);
    };
    const recording = await openRecording({
      folder,
      sessionId: SESSION,
      clock: time,
      timer: time,
      lost,
      late: (loss) => void this.delays.push(loss),
      ...(files && { files }),
    });
    this.#t.after(() => recording.close());
    return recording;
  }

  /** Records `events`, closes, and gives back the records. */
  async record(...events: SessionEvent[]): Promise<JsonObject[]> {
    const recording = await this.open();
    for (const event of events) recording.take(event);
    await recording.close();
    return this.records();
  }

  text(): string {
    return readFileSync(this.file, "utf8");
  }

  /** The lines of the file that are records. */
  records(): JsonObject[] {
    return this.text()
      .split("\n")
      .flatMap((line) => {
        try {
          return [JSON.parse(line) as JsonObject];
        } catch {
          return [];
        }
      });
  }

  /** The records less their envelopes. */
  bodies(): JsonObject[] {
    return this.records().map(bodyOf);
  }

  numbers(): unknown[] {
    return this.records().map(({ seq }) => seq);
  }
}

/** A record less its envelope. */
export function bodyOf({ seq: _, ts: __, sessionId: ___, ...body }: JsonObject): JsonObject {
  return body;
}

/** The numbers from `from` to `to`. */
export function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

/** A piece of the reply. */
export function said(text: string): SessionEvent {
  return { kind: "text-delta", text };
}

/** A tool's call. */
export function called(toolCallId: string, args: unknown = {}, isUpdate = false): SessionEvent {
  return {
    kind: "tool-call",
    toolCallId,
    toolName: "ls",
    arguments: args,
    ...(isUpdate && { isUpdate: true as const }),
  };
}

/** What a tool gave back. */
export function gave(toolCallId: string, result: unknown = "ok"): SessionEvent {
  return { kind: "tool-result", toolCallId, result, isError: false };
}

/** The machine's files, whose appends go through `append`: it may write less, or fail. */
export function failingFiles(
  append: (file: RecordingFile, bytes: Uint8Array) => Promise<number>,
  opening: () => void = () => {},
): RecordingFiles {
  return {
    look: (path) => recordingFiles.look(path),
    open(path) {
      opening();
      const file = recordingFiles.open(path);
      return { ...file, append: (bytes) => append(file, bytes) };
    },
  };
}

/** The system's error of this code. */
export function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
