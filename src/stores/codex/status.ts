import { parseRecords } from "../../jsonl/parse.ts";
import { type ByteSource, readRange } from "../../jsonl/source.ts";
import { asObject } from "../../platform/read.ts";
import { LOOK_BACK_BYTES } from "../../transcript/limits.ts";
import { glanceAt } from "./glance.ts";
import { type Header, isSince } from "./header.ts";

/** What the last record of a turn's life says: `open`: a turn began and did not end. */
export type LastTurn = "open" | "done" | "failed" | "interrupted" | "unknown";

const BLOCK_BYTES = 128 * 1024;
const EVENT = Buffer.from('"event_msg"');

/**
 * How a thread's last turn stands by its own records, `source` being its own history: the last of `task_started`,
 * `task_complete`, `turn_aborted` (0.101 and newer) decides. A record of an older turn that comes late is none of these,
 * and a turn inside another (an inline review) ends with it.
 */
export function lastTurn(source: ByteSource, start: number, header: Header): LastTurn {
  const lowest = Math.max(start, source.size - LOOK_BACK_BYTES);
  let carried = Buffer.alloc(0);
  for (let end = source.size; end > lowest; ) {
    const base = Math.max(lowest, end - BLOCK_BYTES);
    const bytes = Buffer.concat([readRange(source, base, end), carried]);
    const first = base === start ? 0 : bytes.indexOf(0x0a) + 1;
    const found = lastEvent(bytes.subarray(first), header);
    if (found !== undefined) return found;
    // The line that began before this block is read with the next one; one that spans blocks is no event.
    carried = first > 0 && first <= BLOCK_BYTES ? bytes.subarray(0, first) : Buffer.alloc(0);
    end = base;
  }
  return "unknown";
}

/** The last word on a turn in the complete lines of `bytes`. */
function lastEvent(bytes: Buffer, header: Header): LastTurn | undefined {
  let before = bytes.lastIndexOf(0x0a);
  for (
    let place = bytes.lastIndexOf(EVENT, before);
    place >= 0 && before >= 0;
    place = bytes.lastIndexOf(EVENT, before)
  ) {
    const start = bytes.lastIndexOf(0x0a, place) + 1;
    const end = bytes.indexOf(0x0a, place);
    const line = bytes.subarray(start, end < 0 ? bytes.length : end);
    const turn = end < 0 ? undefined : turnOf(line, header);
    if (turn !== undefined) return turn;
    before = start - 1;
    if (before < 0) return undefined;
  }
  return undefined;
}

function turnOf(line: Buffer, header: Header): LastTurn | undefined {
  const { type, inner } = glanceAt(line);
  if (type !== "event_msg") return undefined;
  switch (inner) {
    case "task_started":
    case "turn_started":
      return "open";
    case "turn_aborted":
      return "interrupted";
    case "task_complete":
    case "turn_complete":
      return endOf(line, header);
    default:
      return undefined;
  }
}

/** Before 0.145 a turn that failed ended like one that had nothing to say. */
function endOf(line: Buffer, header: Header): LastTurn {
  const payload = asObject(asObject(parseRecords(line)[0])?.payload);
  if (asObject(payload?.error) !== undefined) return "failed";
  const said = typeof payload?.last_agent_message === "string";
  return said || isSince(header, 145) ? "done" : "unknown";
}
