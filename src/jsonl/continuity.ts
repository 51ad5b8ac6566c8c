import type { OpenFile } from "../platform/files.ts";
import { Recent } from "../platform/recent.ts";
import { type ByteSource, readRange } from "./source.ts";

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

interface Known {
  dev: bigint;
  ino: bigint;
  size: number;
  signature: Buffer;
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
    const { dev, ino, size } = file.stamp;
    const signature = signatureOf(file);
    const known = this.#known.get(name);
    if (known === undefined) {
      const first: Known = { dev, ino, size, signature, stretches: undefined, edition: ++this.#editions };
      this.#known.set(name, first);
      return first;
    }
    const common = Math.min(signature.length, known.signature.length);
    const sameStart = signature.compare(known.signature, 0, common, 0, common) === 0;
    if (known.dev !== dev || known.ino !== ino || !sameStart) {
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

function signatureOf(source: ByteSource): Buffer {
  return readRange(source, 0, Math.min(SIGNATURE_BYTES, source.size));
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
