import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const buffer = Buffer.allocUnsafe(1024 * 1024);
const NEWLINE = 0x0a;

/** Opens `file`, reads the bytes from `start` to `end` at once, and parses every line: how many there are. */
export function readAndParse(file: string, start: number, end: number): number {
  const descriptor = openSync(file, "r");
  fstatSync(descriptor);
  const held = buffer.subarray(0, readSync(descriptor, buffer, 0, end - start, start));
  closeSync(descriptor);
  let records = 0;
  let from = 0;
  for (let to = held.indexOf(NEWLINE); to >= 0; to = held.indexOf(NEWLINE, from)) {
    if (JSON.parse(held.toString("utf8", from, to)) !== undefined) records++;
    from = to + 1;
  }
  return records;
}
