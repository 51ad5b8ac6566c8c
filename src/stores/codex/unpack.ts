import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { readdir, realpath, rename, rm, stat, utimes } from "node:fs/promises";
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
    const name = `${keyOf(stamp)}.jsonl`;
    const busy = this.#busy.get(name);
    if (busy !== undefined) return busy;
    const made = this.#plain(file, name).finally(() => this.#busy.delete(name));
    this.#busy.set(name, made);
    return made;
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
        if (held === 0) throw broken(error);
      }
      await fed;
    });
    return Buffer.concat(chunks);
  }

  async #plain(file: RolloutFile, name: string): Promise<PlainFile> {
    makePrivateFolder(this.#folder);
    const root = await realpath(this.#folder);
    const path = join(root, name);
    const held = await stat(path).catch(() => undefined);
    if (held === undefined) await this.#unpack(file, path);
    else if (Date.now() - held.mtimeMs > USE_MARK_MS) await utimes(path, new Date(), new Date()).catch(() => undefined);
    return { path, root };
  }

  async #unpack(file: RolloutFile, path: string): Promise<void> {
    this.#work.count("unpack");
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
        pipeline(chunksOf(open), decompressor(), bounded, createWriteStream(temporary, { mode: 0o600 })),
      );
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw broken(error);
    }
    await this.#makeRoom(path);
  }

  /**
   * Removes the files that were not used for longest until the rest fits; never the one just written. What a process that
   * died left half written counts, and goes in its turn.
   */
  async #makeRoom(kept: string): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => /\.jsonl(\.\d+\.tmp)?$/.test(name));
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
      await rm(file.path, { force: true });
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

function broken(cause: unknown): Failure {
  if (cause instanceof Failure) return cause;
  return new Failure("not-found", "the compressed session can't be unpacked", cause);
}
