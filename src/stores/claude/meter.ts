import type { ByteSource } from "../../jsonl/source.ts";

/** Counts what reading chats costs, so that it can be told and held to. */
export interface Meter {
  /** Files opened. */
  opens: number;
  /** Bytes read. */
  bytes: number;
  /** Lines parsed. */
  parses: number;
  /** Of these, lines in which no record could be read. */
  damaged: number;
}

/** A meter at zero. */
export function newMeter(): Meter {
  return { opens: 0, bytes: 0, parses: 0, damaged: 0 };
}

/** Adds what `part` counted to `whole`. */
export function addTo(whole: Meter, part: Meter): void {
  whole.opens += part.opens;
  whole.bytes += part.bytes;
  whole.parses += part.parses;
  whole.damaged += part.damaged;
}

/** `source`, with what is read from it counted. */
export function metered(source: ByteSource, meter: Meter): ByteSource {
  return {
    size: source.size,
    read(target, position) {
      const count = source.read(target, position);
      meter.bytes += count;
      return count;
    },
  };
}
