import { createHash } from "node:crypto";
import { createWriteStream, readdirSync, readFileSync } from "node:fs";
import { lstat, realpath, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { zstd } from "../../platform/builtins.ts";
import { Failure } from "../../platform/failure.ts";
import { type FileStamp, type OpenFile, stampOf, withFile } from "../../platform/files.ts";
import { makePrivateFolder } from "../../platform/private-folder.ts";
import type { RolloutFile } from "./catalog.ts";
import type { Work } from "./work.ts";

/** Bytes that all unpacked rollouts together may take; the oldest make room. */
const CACHE_BYTES = 2 * 1024 ** 3;
/** How old the mark of last use of an unpacked file may get before it is renewed, in ms. */
const USE_MARK_MS = 60 * 60 * 1000;

/** Ends the name of the note, in the cache, why a state of a file can't be unpacked. */
const REFUSED = ".refused";
const DAMAGED = "the compressed session can't be unpacked: it is damaged";
const TOO_LARGE = "the compressed session can't be unpacked: it is larger than our cache";
const NO_ROOM = "the compressed session can't be unpacked: our cache folder can't be written";

/** A file that can be read as it is, and the folder that it must lie in. */
export interface PlainFile {
  readonly path: string;
  readonly root: string;
}

/**
 * Unpacks `.jsonl.zst` rollouts (0.16x and newer, behind a feature switch) into a folder of ours, each once for each of
 * its states: written beside its name and renamed, so that a file there is always whole. Private to the user.
 */
export class Unpacker {
  readonly #folder: string;
  readonly #work: Work;
  readonly #most: number;
  readonly #busy = new Map<string, Promise<PlainFile>>();

  constructor(folder: string, work: Work, most: number = CACHE_BYTES) {
    this.#folder = join(folder, "codex");
    this.#work = work;
    this.#most = most;
  }

  /** The unpacked `file`. @throws Failure not-found when it can't be unpacked */
  async plain(file: RolloutFile): Promise<PlainFile> {
    const stamp = stampOf(file.path);
    if (stamp === undefined) throw new Failure("not-found", "no such transcript");
    const key = keyOf(stamp);
    const busy = this.#busy.get(key);
    if (busy !== undefined) return busy;
    const made = this.#plain(file, key)
      .catch((error: unknown) => {
        throw error instanceof Failure ? error : new Failure("not-found", NO_ROOM, error);
      })
      .finally(() => this.#busy.delete(key));
    this.#busy.set(key, made);
    return made;
  }

  /** Of `files` those that are known as they are to be such that can't be unpacked, with why. */
  refused(files: Iterable<RolloutFile>): { readonly reason: string; readonly example: string }[] {
    const names = new Set(namesIn(this.#folder).filter((name) => name.endsWith(REFUSED)));
    if (names.size === 0) return [];
    return Array.from(files).flatMap(({ path, compressed }) => {
      const stamp = compressed ? stampOf(path) : undefined;
      const name = stamp && keyOf(stamp) + REFUSED;
      if (name === undefined || !names.has(name)) return [];
      const reason = textOf(join(this.#folder, name));
      return reason === undefined ? [] : [{ reason, example: path }];
    });
  }

  /** The first bytes of what `file` unpacks to, at least `bytes` of them unless it is shorter; writes nothing. */
  async head(file: RolloutFile, bytes: number): Promise<Buffer> {
    const chunks: Buffer[] = [];
    await withFile(file.root, file.path, async (open) => {
      const unpacked = decompressor();
      // What goes wrong with feeding it shows in reading it.
      const fed = pipeline(chunksOf(open), unpacked).catch(() => undefined);
      let held = 0;
      try {
        for await (const chunk of unpacked) {
          chunks.push(chunk as Buffer);
          held += (chunk as Buffer).length;
          if (held >= bytes) break;
        }
      } catch (error) {
        if (held === 0) throw new Failure("not-found", DAMAGED, error);
      }
      await fed;
    });
    return Buffer.concat(chunks);
  }

  async #plain(file: RolloutFile, key: string): Promise<PlainFile> {
    makePrivateFolder(this.#folder);
    const root = await realpath(this.#folder);
    const path = join(root, `${key}.jsonl`);
    const held = await lstat(path).catch(() => undefined);
    if (held?.isFile() === true) {
      if (Date.now() - held.mtimeMs > USE_MARK_MS) await utimes(path, new Date(), new Date()).catch(() => undefined);
      return { path, root };
    }
    const refused = textOf(join(root, key + REFUSED));
    if (refused !== undefined) throw new Failure("not-found", refused);
    // Whatever else has come to lie there makes room.
    if (held !== undefined) await rm(path, { recursive: true, force: true });
    await this.#unpack(file, root, key);
    await this.#makeRoom(path);
    return { path, root };
  }

  async #unpack(file: RolloutFile, root: string, key: string): Promise<void> {
    this.#work.count("unpack");
    const path = join(root, `${key}.jsonl`);
    const temporary = `${path}.${process.pid}.tmp`;
    let left = this.#most;
    const bounded = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        left -= chunk.length;
        done(left < 0 ? new Error("larger than the cache") : null, chunk);
      },
    });
    try {
      await withFile(file.root, file.path, (open) =>
        // Flushed before it gets its name, so that no crash leaves a file there that is not whole.
        pipeline(chunksOf(open), decompressor(), bounded, createWriteStream(temporary, { mode: 0o600, flush: true })),
      );
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined);
      // What the system or the store refuses it may allow the next time; all else lies in the file.
      if (error instanceof Failure || isSystemError(error)) throw error;
      const reason = left < 0 ? TOO_LARGE : DAMAGED;
      // Trying again would cost as much and end the same, so it is remembered for this state of the file.
      await writeFile(join(root, key + REFUSED), reason, { mode: 0o600 }).catch(() => undefined);
      throw new Failure("not-found", reason, error);
    }
  }

  /**
   * Removes the files that were not used for longest until the rest fits; never the one just written. What a process that
   * died left half written counts, and goes in its turn.
   */
  async #makeRoom(kept: string): Promise<void> {
    const names = namesIn(this.#folder).filter((name) => /\.(refused|jsonl(\.\d+\.tmp)?)$/.test(name));
    const files = await Promise.all(
      names.map(async (name) => {
        const path = join(this.#folder, name);
        const stats = await stat(path).catch(() => undefined);
        return { name, path, size: stats?.size ?? 0, used: stats?.mtimeMs ?? 0 };
      }),
    );
    let total = files.reduce((sum, file) => sum + file.size, 0);
    for (const file of files.sort((a, b) => a.used - b.used)) {
      if (total <= this.#most) return;
      if (kept.endsWith(file.name)) continue;
      await rm(file.path, { force: true }).catch(() => undefined);
      total -= file.size;
    }
  }
}

/** Names one state of a file. */
function keyOf(stamp: FileStamp): string {
  const text = [stamp.path, stamp.dev, stamp.ino, stamp.size, stamp.mtimeNs].join("\n");
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

const CHUNK_BYTES = 256 * 1024;

/** The bytes of an open file, chunk by chunk. */
async function* chunksOf(open: OpenFile): AsyncGenerator<Buffer> {
  for (let at = 0; at < open.size; ) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, open.size - at));
    const held = open.read(chunk, at);
    if (held === 0) return;
    at += held;
    yield chunk.subarray(0, held);
    await new Promise(setImmediate);
  }
}

function decompressor(): Transform {
  return zstd().createZstdDecompress();
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** What a small file says; undefined when there is none. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}
