import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseRecords } from "../../jsonl/parse.ts";
import { type FileStamp, sameStamp, stampOf } from "../../platform/files.ts";
import { asObject, asText } from "../../platform/read.ts";

/** Bytes of the largest index that is read: hundreds of thousands of names. */
const MOST_BYTES = 64 * 1024 * 1024;

/** The names that threads were given: `session_index.jsonl` of a home, where the last line of an id wins (0.134 to 0.171). */
export class ThreadNames {
  readonly #path: string;
  #stamp: FileStamp | undefined;
  #names: ReadonlyMap<string, string> = new Map();

  constructor(home: string) {
    this.#path = join(home, "session_index.jsonl");
  }

  /** The names by thread id; the same map as long as the file does not change. */
  read(): ReadonlyMap<string, string> {
    const stamp = stampOf(this.#path);
    if (stamp === undefined) this.#names = this.#names.size === 0 ? this.#names : new Map();
    else if (this.#stamp === undefined || !sameStamp(this.#stamp, stamp)) this.#names = namesIn(this.#path, stamp);
    this.#stamp = stamp;
    return this.#names;
  }
}

function namesIn(path: string, stamp: FileStamp): Map<string, string> {
  const names = new Map<string, string>();
  if (stamp.size > MOST_BYTES) return names;
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    return names;
  }
  let start = 0;
  for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
    for (const record of parseRecords(bytes.subarray(start, end))) {
      const line = asObject(record);
      const id = asText(line?.id);
      const name = asText(line?.thread_name);
      if (id !== undefined && name !== undefined) names.set(id, name);
    }
    start = end + 1;
  }
  return names;
}
