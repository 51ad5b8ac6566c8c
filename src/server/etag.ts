import { createHash } from "node:crypto";
import type { EpochMs } from "../platform/clock.ts";
import { type FileStamp, sameStamp, stampOf } from "../platform/files.ts";
import type { Validity } from "./route.ts";

/** A file that was written a moment ago may be written again without its times showing it. */
const YOUNG_MS = 50;

/**
 * The weak ETag of an answer: a hash over `salt` (the program's version: another one may answer otherwise), the target,
 * the facts and the stamps. Undefined while what it stands on may change unseen: not settled, or a file written less
 * than 50 ms before `now`.
 */
export function etagOf(salt: string, target: string, validity: Validity, now: EpochMs): string | undefined {
  if (!validity.settled || validity.uses.some((stamp) => isYoung(stamp, now))) return undefined;
  const hash = createHash("sha256").update(JSON.stringify([salt, target, validity.facts ?? []]));
  for (const { dev, ino, size, mtimeNs, ctimeNs } of validity.uses) {
    hash.update(`\n${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`);
  }
  return `W/"${hash.digest("base64url").slice(0, 27)}"`;
}

/** Whether an `If-None-Match` header names `etag`: a list, compared weakly (RFC 9110 §8.8.3.2), or `*`. */
export function namesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === "*") return true;
  const entry = /[\s,]*(?:W\/)?("[^"]*")\s*(?:,|$)/y;
  for (let match = entry.exec(header); match !== null; match = entry.exec(header)) {
    if (match[1] === etag.replace(/^W\//, "")) return true;
  }
  return false;
}

/**
 * How long a memo is believed: ms. An answer names all that it was made from; should one ever name too little, it is wrong
 * for so long and not for ever.
 */
export const MEMO_MS = 30_000;

/** Remembers what answers were made from, so that one that would come out the same need not be made. */
export interface EtagMemo {
  /** The ETag of what `target` was last answered with, if its files and facts are still the same (one stat a file) and it was made less than 30 s ago. */
  current(target: string, now: EpochMs): string | undefined;
  /** Facts that can't be asked again (see `Validity`) are not remembered. */
  remember(target: string, etag: string, validity: Validity, now: EpochMs): void;
}

/** How much a memo holds; the answer that was asked for least recently goes first. */
export interface MemoBounds {
  readonly answers: number;
  /** Stamps of all answers together. */
  readonly stamps: number;
}

/** An empty memo. `stamp` asks for a file's stamp. */
export function makeEtagMemo(
  bounds: MemoBounds = { answers: 2_000, stamps: 20_000 },
  stamp: (path: string) => FileStamp | undefined = stampOf,
): EtagMemo {
  const entries = new Map<string, { readonly etag: string; readonly validity: Validity; readonly at: EpochMs }>();
  let stamps = 0;

  const forget = (target: string): void => {
    stamps -= entries.get(target)?.validity.uses.length ?? 0;
    entries.delete(target);
  };

  return {
    current(target, now) {
      const entry = entries.get(target);
      if (entry === undefined) return undefined;
      const age = now - entry.at;
      if (age < 0 || age >= MEMO_MS || !unchanged(entry.validity, stamp)) {
        forget(target);
        return undefined;
      }
      entries.delete(target);
      entries.set(target, entry);
      return entry.etag;
    },
    remember(target, etag, validity, now) {
      forget(target);
      if (validity.facts !== undefined && validity.factsNow === undefined) return;
      entries.set(target, { etag, validity, at: now });
      stamps += validity.uses.length;
      for (const oldest of entries.keys()) {
        if (entries.size <= bounds.answers && stamps <= bounds.stamps) break;
        forget(oldest);
      }
    },
  };
}

function unchanged(validity: Validity, stamp: (path: string) => FileStamp | undefined): boolean {
  const { facts = [], uses } = validity;
  const now = validity.factsNow?.() ?? [];
  if (facts.length !== now.length || facts.some((fact, i) => fact !== now[i])) return false;
  return uses.every((before) => {
    const after = stamp(before.path);
    return after !== undefined && sameStamp(before, after);
  });
}

function isYoung(stamp: FileStamp, now: EpochMs): boolean {
  return now - Number(stamp.mtimeNs / 1_000_000n) < YOUNG_MS;
}
