import { Failure } from "../platform/failure.ts";

/** Bytes of UTF-8 in one prompt. */
const PROMPT_BYTES = 512 * 1024;

/** Refuses what no agent can be asked. @throws Failure bad-request: it is empty or blank, too long, or holds half a character */
export function checkPrompt(text: string): void {
  if (text.trim() === "") throw new Failure("bad-request", "the prompt is empty: say what the agent is to do");
  if (Buffer.byteLength(text) > PROMPT_BYTES) {
    throw new Failure("bad-request", "the prompt is over 512 KiB: put the most of it into a file that the agent reads");
  }
  // It could not be sent or recorded as it is.
  if (/\p{Surrogate}/u.test(text)) throw new Failure("bad-request", "the prompt holds half a character");
}
