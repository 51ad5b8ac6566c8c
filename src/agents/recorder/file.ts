import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync, statSync, write } from "node:fs";
import { basename, dirname } from "node:path";
import type { ByteSource } from "../../jsonl/source.ts";
import { errorCode } from "../../platform/failure.ts";
import { NotAFile } from "../../platform/private-file.ts";
import { makePrivateFolder } from "../../platform/private-folder.ts";

const FILE_MODE = 0o600;
/** No link is followed, and a pipe in the file's place does not keep anyone waiting. */
const CAREFULLY = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** A recording's file, open; its size is that at opening. */
export interface RecordingFile extends ByteSource {
  /** Puts bytes at the file's end; how many it took. @throws the system's error */
  append(bytes: Uint8Array): Promise<number>;
  /** How long the file is now: bytes. @throws the system's error */
  sizeNow(): number;
  /** Whether the file still is what its path leads to. */
  isInPlace(): boolean;
  close(): void;
}

/** How recordings' files are opened; passed in, so that tests can make it fail. */
export interface RecordingFiles {
  /** The file at `path` as it is; undefined when there is none. @throws the system's error · NotAFile */
  look(path: string): RecordingFile | undefined;
  /** The file at `path`, made (0600) with its folders (0700) where it is missing. @throws as `look` */
  open(path: string): RecordingFile;
}

/** The files of this machine. */
export const recordingFiles: RecordingFiles = {
  look(path) {
    try {
      return opened(path, constants.O_RDONLY);
    } catch (error) {
      if (errorCode(error) === "ENOENT") return undefined;
      throw error;
    }
  },
  open(path) {
    makePrivateFolder(dirname(path));
    return opened(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT);
  },
};

function opened(path: string, how: number): RecordingFile {
  const descriptor = openSync(path, how | CAREFULLY, FILE_MODE);
  const stats = fstatSync(descriptor, { bigint: true });
  if (!stats.isFile()) {
    closeSync(descriptor);
    throw new NotAFile(basename(path), stats.isDirectory());
  }
  return {
    size: Number(stats.size),
    read: (target, position) => readFully(descriptor, target, position),
    append: (bytes) =>
      new Promise((resolve, reject) => {
        write(descriptor, bytes, 0, bytes.length, null, (error, count) => (error ? reject(error) : resolve(count)));
      }),
    sizeNow: () => fstatSync(descriptor).size,
    isInPlace: () => isAt(path, stats),
    close: () => closeSync(descriptor),
  };
}

function isAt(path: string, { dev, ino }: BigIntStats): boolean {
  try {
    const there = statSync(path, { bigint: true, throwIfNoEntry: false });
    return there !== undefined && there.dev === dev && there.ino === ino;
  } catch {
    return false;
  }
}

function readFully(descriptor: number, target: Uint8Array, position: number): number {
  let done = 0;
  while (done < target.length) {
    const count = readSync(descriptor, target, done, target.length - done, position + done);
    if (count === 0) break;
    done += count;
  }
  return done;
}
