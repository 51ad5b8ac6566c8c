import { Failure } from "../../platform/failure.ts";
import type { Input } from "../input.ts";

/** Bytes that are read from standard input: no request to the server may be larger. */
const MOST_BYTES = 1024 * 1024;

/** The one word behind a verb: the id or name of a session. @throws Failure usage */
export function sessionWord(verb: string, words: readonly string[]): string {
  const [id, ...more] = words;
  if (id === undefined || id === "") {
    throw new Failure("usage", `sessions ${verb} needs the id or name of a session; see agent-bridge sessions`);
  }
  if (more[0] !== undefined) throw new Failure("usage", `sessions ${verb} does not take "${more[0]}"`);
  return id;
}

/** All that comes from standard input, as text. @throws Failure usage: it is over 1 MiB, or no UTF-8 · the signal's reason */
export async function allInput(input: Input): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of input.parts(new AbortController().signal)) {
    bytes += part.length;
    if (bytes > MOST_BYTES) throw new Failure("usage", "standard input is over 1 MiB: send it in parts");
    parts.push(part);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(parts));
  } catch (error) {
    throw new Failure("usage", "standard input is no text in UTF-8", error);
  }
}
