import { randomBytes } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { errorCode, Failure } from "../platform/failure.ts";
import { makePrivateFolder } from "../platform/private-folder.ts";

/** So much is kept in memory; more waits in a file. Bytes. */
const MEMORY_BYTES = 8 * 1024 * 1024;
/** Bytes that are put away, and read back, at once. */
const CHUNK_BYTES = 256 * 1024;
/** A longer text becomes bytes by itself, so that little of a chunk stays empty. */
const LONG_BYTES = CHUNK_BYTES / 4;
/** So much is written to the file at once. */
const WRITTEN_BYTES = 4 * CHUNK_BYTES;
/** Smaller pieces are put together before they are given out. */
const GATHERED_BYTES = 64 * 1024;

/** What waits of an export can't be put away. */
export class NoRoom extends Failure {
  constructor(cause: unknown) {
    const code = errorCode(cause) ?? "unknown error";
    const advice =
      "see to the permissions and the space on the disk of agent-bridge's own folder, or of the one to write to";
    super(
      "conflict",
      `so long an export waits in a file until it is whole, which can't be written (${code}): ${advice}`,
      cause,
    );
  }
}

/** Something that is put in between when a spool is read. */
export interface Insert {
  /** The offset in bytes before which it comes; of several at one place, the first comes first. */
  readonly at: number;
  readonly text: string | Buffer;
}

/**
 * A long text on its way, written once from start to end and then read. What is too much for the memory waits in a file that
 * only we can open, and that has no name where the system allows that, so that nothing of it is left behind. To be closed.
 */
export class Spool {
  readonly #folder: string;
  readonly #memoryBytes: number;
  /** Bytes that are not in the file. */
  #chunks: Buffer[] = [];
  #chunkBytes = 0;
  /** Where texts become bytes, and how far it is filled. */
  #open = Buffer.allocUnsafe(CHUNK_BYTES);
  #filled = 0;
  #size = 0;
  #writing: Promise<void> = Promise.resolve();
  #file: { readonly handle: FileHandle; readonly path: string | undefined } | undefined;

  /** `folder` is made when it is needed. */
  constructor(folder: string, memoryBytes = MEMORY_BYTES) {
    this.#folder = folder;
    this.#memoryBytes = memoryBytes;
  }

  /** Bytes so far. */
  get size(): number {
    return this.#size;
  }

  /** Adds `text`, which neither begins nor ends with half a character; `flush` is to be called now and then. */
  add(text: string): void {
    // No character takes more than three bytes for each of its units.
    const most = text.length * 3;
    if (most > CHUNK_BYTES - this.#filled) this.#closeChunk();
    if (most > LONG_BYTES) {
      this.#closeChunk();
      this.#take(Buffer.from(text));
      return;
    }
    const bytes = this.#open.write(text, this.#filled);
    this.#filled += bytes;
    this.#size += bytes;
  }

  /**
   * Puts away what was added, once that is much; comes back while it is written, unless what was put away before still is.
   * @throws NoRoom
   */
  async flush(): Promise<void> {
    const most = this.#file === undefined ? this.#memoryBytes : WRITTEN_BYTES;
    if (this.#chunkBytes <= most) return;
    await this.#writing;
    this.#writing = this.#putAway();
    // It is told by the next one who waits for it.
    this.#writing.catch(() => {});
  }

  /** Nothing is added any more: all is where it is read from. @throws Failure as `flush` */
  async finish(): Promise<void> {
    this.#closeChunk();
    await this.#writing;
    if (this.#file !== undefined) await this.#putAway();
  }

  /** The bytes from `from` to before `to`, once it is finished. */
  async *read(from = 0, to = this.#size): AsyncGenerator<Buffer, void> {
    if (this.#file === undefined) {
      yield* within(this.#chunks, from, to);
      return;
    }
    let ahead = readAt(this.#file.handle, from, to);
    for (let at = from; at < to; ) {
      const bytes = await ahead;
      at += bytes.length;
      // The next ones are read while these are used.
      ahead = readAt(this.#file.handle, at, to);
      ahead.catch(() => {});
      yield bytes;
    }
  }

  /** All of it with `inserts`, which are in the order of their places. */
  async *readWith(inserts: readonly Insert[]): AsyncGenerator<Buffer, void> {
    let gathered: Buffer[] = [];
    let bytes = 0;
    for await (const part of this.#withInserts(inserts)) {
      gathered.push(part);
      bytes += part.length;
      if (bytes < GATHERED_BYTES) continue;
      yield gathered.length === 1 ? part : Buffer.concat(gathered);
      gathered = [];
      bytes = 0;
    }
    if (bytes > 0) yield Buffer.concat(gathered);
  }

  async *#withInserts(inserts: readonly Insert[]): AsyncGenerator<Buffer, void> {
    let from = 0;
    for (const { at, text } of inserts) {
      if (at > from) yield* this.read(from, at);
      from = at;
      yield typeof text === "string" ? Buffer.from(text) : text;
    }
    yield* this.read(from);
  }

  async close(): Promise<void> {
    await this.#writing.catch(() => {});
    this.#chunks = [];
    const file = this.#file;
    this.#file = undefined;
    await file?.handle.close();
    if (file?.path !== undefined) await rm(file.path, { force: true });
  }

  #closeChunk(): void {
    if (this.#filled === 0) return;
    const bytes = this.#open.subarray(0, this.#filled);
    this.#size -= this.#filled;
    this.#take(bytes);
    this.#open = Buffer.allocUnsafe(CHUNK_BYTES);
    this.#filled = 0;
  }

  #take(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#chunkBytes += bytes.length;
    this.#size += bytes.length;
  }

  async #putAway(): Promise<void> {
    if (this.#chunks.length === 0) return;
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#chunkBytes = 0;
    try {
      this.#file ??= await openNameless(this.#folder);
      await writeAll(this.#file.handle, chunks);
    } catch (error) {
      throw new NoRoom(error);
    }
  }
}

/** A new file that only we can open; its path where it could not be taken off it. */
async function openNameless(
  folder: string,
): Promise<{ readonly handle: FileHandle; readonly path: string | undefined }> {
  makePrivateFolder(folder);
  const path = join(folder, `export-${process.pid}-${randomBytes(6).toString("hex")}.tmp`);
  const handle = await open(path, "wx+", 0o600);
  const isNameless = await rm(path).then(
    () => true,
    () => false,
  );
  return { handle, path: isNameless ? undefined : path };
}

async function writeAll(handle: FileHandle, chunks: readonly Buffer[]): Promise<void> {
  const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
  const { bytesWritten } = await handle.writev(chunks);
  // A disk that fills up may take a part: the rest then says why.
  if (bytesWritten < bytes) await handle.writeFile(Buffer.concat(chunks).subarray(bytesWritten));
}

async function readAt(handle: FileHandle, from: number, to: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, to - from));
  if (buffer.length === 0) return buffer;
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, from);
  if (bytesRead === 0) throw new Failure("failed", "what was put away of an export is gone: try again");
  return buffer.subarray(0, bytesRead);
}

function* within(chunks: readonly Buffer[], from: number, to: number): Generator<Buffer, void> {
  let start = 0;
  for (const chunk of chunks) {
    const part = chunk.subarray(Math.max(0, from - start), Math.max(0, Math.min(chunk.length, to - start)));
    if (part.length > 0) yield part;
    start += chunk.length;
    if (start >= to) return;
  }
}
