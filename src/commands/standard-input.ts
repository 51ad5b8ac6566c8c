import { Failure } from "../platform/failure.ts";

/** What comes in on stdin; a test gives its own. */
export interface StandardInput {
  /** A person types there, or nobody does. */
  readonly isTerminal: boolean;
  /** All of it, as text. @throws Failure failed: over `bytes`, or not over after `ms` milliseconds */
  read(most: { readonly bytes: number; readonly ms: number }): Promise<string>;
}

/** The stdin of this process. */
export const processInput: StandardInput = {
  get isTerminal() {
    return process.stdin.isTTY === true;
  },
  read: (most) => readAll(process.stdin, most),
};

/** Everything that a stream gives, as text. @throws as `StandardInput.read` */
export async function readAll(
  stream: NodeJS.ReadableStream & { destroy(): unknown },
  { bytes, ms }: { readonly bytes: number; readonly ms: number },
): Promise<string> {
  let late = false;
  const timeout = setTimeout(() => {
    late = true;
    stream.destroy();
  }, ms);
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of stream) {
      const part = Buffer.from(chunk);
      length += part.length;
      if (length > bytes) throw new Failure("failed", `what comes on stdin is over ${bytes} bytes`);
      chunks.push(part);
    }
  } catch (error) {
    if (!late) throw error;
  } finally {
    clearTimeout(timeout);
  }
  if (late) throw new Failure("failed", "nothing more comes on stdin, and it does not end");
  return Buffer.concat(chunks).toString("utf8");
}
