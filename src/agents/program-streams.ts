import { Failure } from "../platform/failure.ts";
import type { Child, Exit } from "./child.ts";
import type { Output } from "./output.ts";
import { WholeCharacters } from "./whole-characters.ts";

/** What a program is sent: all of it waits until it is read, up to a limit. */
export interface ProgramInput {
  /** @throws Failure conflict */
  readonly write: (text: string) => void;
  readonly end: () => void;
}

/** The input of `child`. */
export function inputOf(child: Child): ProgramInput {
  let waiting = 0;
  let state: "open" | "over" | "gone" = "open";
  child.exited.then(() => {
    state = "gone";
  });
  return {
    write: (text) => {
      if (state === "gone") throw new Failure("conflict", "the program has ended");
      if (state === "over") throw new Failure("conflict", "the program's input is over");
      const bytes = Buffer.from(text);
      if (waiting > 0 && waiting + bytes.length > MOST_WAITING) {
        throw new Failure("conflict", "the program does not read its input: wait until it does");
      }
      waiting += bytes.length;
      void child.write(bytes).then(() => {
        waiting -= bytes.length;
      });
    },
    end: () => {
      if (state === "open") state = "over";
      child.closeInput();
    },
  };
}

/** Lets all that `child` prints go into `output`; comes back when it has ended, and what it left behind too. */
export async function pourOut(child: Child, output: Output): Promise<Exit> {
  const [exit] = await Promise.all([child.exited, pour(child.stdout, output), pour(child.stderr, output)]);
  output.end();
  await child.end(LEFT_BEHIND_GRACE_MS);
  return exit;
}

/** How much may wait for a program that does not read: bytes. */
const MOST_WAITING = 1024 * 1024;
/** How long what a program left behind has to end: ms. */
const LEFT_BEHIND_GRACE_MS = 1_000;

async function pour(stream: AsyncIterable<Uint8Array>, output: Output): Promise<void> {
  const whole = new WholeCharacters();
  for await (const bytes of stream) output.write(whole.add(bytes));
  output.write(whole.rest());
}
