import type { ByteSource } from "../../jsonl/source.ts";

/** Counts what reading chats costs, so that it can be told and held to. */
export interface Meter {
  /** Files opened. */
  opens: number;
  /** Bytes read. */
  bytes: number;
  /** Lines parsed. */
  parses: number;
}

/** A meter at zero. */
export function newMeter(): Meter {
  return { opens: 0, bytes: 0, parses: 0 };
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
