import type { Environment } from "../platform/environment.ts";
import { errorCode, Failure } from "../platform/failure.ts";
import type { Interrupt } from "./interruption.ts";
import { OutputClosed, ReaderWaits } from "./reader-waits.ts";

/** Where a command writes: stdout and stderr, or a test's arrays. */
export interface Terminal {
  /** Writes to stdout as it stands; waits until it is taken. @throws OutputClosed · Failure failed: it can't be written */
  out(text: string | Uint8Array): Promise<void>;
  /** Writes to stderr as it stands. */
  err(text: string): Promise<void>;
  /** Columns of stdout; undefined when it is no terminal, so that nothing is cut for it. */
  readonly columns: number | undefined;
  /** Whether stderr is a terminal on which a line can be taken back: only then progress is shown. */
  readonly showsProgress: boolean;
  /** Whether stdout takes colours. */
  readonly colours: boolean;
}

/** A terminal on which one may wait for whoever reads, until that is given up. */
export interface ProcessTerminal extends Terminal {
  /** Waits for readers that take nothing end soon: a request to end, or the second one to stop, since the wait began. */
  interrupted(asked: Interrupt): void;
}

/** The terminal (or pipe, or file) of this process. */
export function processTerminal(environment: Environment): ProcessTerminal {
  const { stdout, stderr } = process;
  const waits = new ReaderWaits();
  // Each write tells its own error; without a listener the stream's event would end the process with a stack.
  stdout.on("error", () => {});
  stderr.on("error", () => {});
  return {
    out: (text) =>
      waits.wait(written(stdout, text)).catch((error: unknown) => {
        throw error instanceof OutputClosed ? error : outputError(error);
      }),
    err: (text) => waits.wait(written(stderr, text)).catch(() => {}),
    interrupted: (asked) => waits.interrupted(asked),
    get columns() {
      return stdout.isTTY ? stdout.columns || 80 : undefined;
    },
    showsProgress: stderr.isTTY === true && environment.variable("TERM") !== "dumb",
    colours:
      stdout.isTTY === true &&
      environment.variable("NO_COLOR") === undefined &&
      environment.variable("TERM") !== "dumb",
  };
}

function written(stream: NodeJS.WriteStream, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

/** What a failed write to stdout means. Whoever read it has gone, or output is lost: that must not look like success. */
export function outputError(error: unknown): OutputClosed | Failure {
  const code = errorCode(error);
  if (code !== undefined && GONE.includes(code)) return new OutputClosed("output closed", { cause: error });
  const reason = code === "ENOSPC" || code === "EDQUOT" ? "there is no space left" : (code ?? "unknown error");
  return new Failure("failed", `the output can't be written: ${reason}`, error);
}

/** The second is what a write gives after the first one failed. */
const GONE: readonly string[] = ["EPIPE", "ERR_STREAM_DESTROYED"];
