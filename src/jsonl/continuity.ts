import { hash } from "node:crypto";
import type { OpenFile } from "../platform/files.ts";
import { Recent } from "../platform/recent.ts";
import { readRange } from "./source.ts";

/** How many of a file's first bytes tell it from another at the same path. */
const SIGNATURE_BYTES = 1024;
/** Paths that are remembered. */
const PATHS = 4096;
/** Stretches that are remembered of one replaced file; a cursor in a forgotten one starts again. */
const STRETCHES = 256;

/** The stretch of a file from one offset to another, both included. */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

/**
 * A file's first bytes. Thousands are kept, so that those of all but the smallest files are kept as a digest; those of
 * small ones stand as they are (latin1), so that a file that has grown since can be compared.
 */
type Signature = { readonly digest: string } | { readonly bytes: string };

interface Known {
  dev: bigint;
  ino: bigint;
  size: number;
  signature: Signature;
  /** Where cursors can be of the file that is there now; undefined as long as it was never another. */
  stretches: Stretch[] | undefined;
  edition: number;
}

/** What is known of a file that was just opened. */
export interface FileNow {
  /** Another number than before when the file was replaced or cut short since it was opened last, also in place. */
  readonly edition: number;
  /** Whether a cursor at `offset` can have been given for this very file. */
  fits(offset: number): boolean;
  /** Remembers that cursors from `from` to `to` were given for it. */
  served(from: number, to: number): void;
}

/**
 * Remembers the files that were read, so that a cursor given for one that has been replaced since (another inode or
 * other first bytes) or cut short is told from those of the file that stands at its path now.
 */
export class Continuity {
  readonly #known: Recent<string, Known>;
  #editions = 0;

  /** `paths`: how many are remembered; one that was forgotten is another edition the next time. */
  constructor(paths: number = PATHS) {
    this.#known = new Recent(paths);
  }

  /** Compares the open file with what stood before at its path, or under the `name` of what may lie at several. */
  now(file: OpenFile, name: string = file.stamp.path): FileNow {
    const known = this.#update(file, name);
    const { edition } = known;
    return {
      edition,
      fits: (offset) => known.stretches?.some(({ from, to }) => from <= offset && offset <= to) ?? true,
      served(from, to) {
        if (known.stretches !== undefined && known.edition === edition) add(known.stretches, { from, to });
      },
    };
  }

  #update(file: OpenFile, name: string): Known {
    const { dev, ino } = file.stamp;
    // Not the stamp's size: that of a compressed file says nothing of what stands in it.
    const { size } = file;
    const first = readRange(file, 0, Math.min(SIGNATURE_BYTES, size));
    const signature = signatureOf(first);
    const known = this.#known.get(name);
    if (known === undefined) {
      const met: Known = { dev, ino, size, signature, stretches: undefined, edition: ++this.#editions };
      this.#known.set(name, met);
      return met;
    }
    if (known.dev !== dev || known.ino !== ino || !mayHaveGrown(known.signature, signature, first)) {
      known.stretches = [];
      known.edition = ++this.#editions;
    } else if (size < known.size) {
      known.stretches = (known.stretches ?? [{ from: 0, to: size }])
        .filter(({ from }) => from <= size)
        .map(({ from, to }) => ({ from, to: Math.min(to, size) }));
      known.edition = ++this.#editions;
    }
    Object.assign(known, { dev, ino, size, signature });
    return known;
  }
}

function signatureOf(first: Buffer): Signature {
  if (first.length < SIGNATURE_BYTES) return { bytes: first.toString("latin1") };
  return { digest: hash("sha256", first, "base64url") };
}

/**
 * Whether what was signed before can have become the `first` bytes, which are signed `now`, by growing or by being cut short.
 * Fewer than a digest was made of count as others.
 */
function mayHaveGrown(before: Signature, now: Signature, first: Buffer): boolean {
  if ("digest" in before) return "digest" in now && now.digest === before.digest;
  const common = Math.min(first.length, before.bytes.length);
  return first.toString("latin1", 0, common) === before.bytes.slice(0, common);
}

/** Adds a stretch, joined with those that it touches. */
function add(stretches: Stretch[], added: Stretch): void {
  let { from, to } = added;
  const apart = stretches.filter((stretch) => {
    const touches = stretch.from <= to && from <= stretch.to;
    if (touches) [from, to] = [Math.min(from, stretch.from), Math.max(to, stretch.to)];
    return !touches;
  });
  apart.push({ from, to });
  stretches.splice(0, stretches.length, ...apart.slice(-STRETCHES));
}
