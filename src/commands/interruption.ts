import { Bell } from "../platform/bell.ts";

/** Windows has no SIGQUIT (Ctrl-\\): listening for it there fails. */
const SIGNALS = [
  "SIGINT",
  "SIGTERM",
  "SIGHUP",
  ...(process.platform === "win32" ? [] : (["SIGQUIT"] as const)),
] as const;

/** So many signals mean that ending in good order does not work out. (Through npm one Ctrl-C comes as two or three.) */
const PATIENCE = 6;

/**
 * A signal that aborts when this process is asked to end: Ctrl-C, `kill`, a closed terminal. From the call on the process
 * no longer ends by itself then. `told` is told that it is to end.
 */
export function interruption(told: (asked: Interrupt) => void): AbortSignal {
  const interrupted = new AbortController();
  let count = 0;
  const interrupt = (): void => {
    interrupted.abort();
    told("end");
    if (++count === PATIENCE) process.exit(1);
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  return interrupted.signal;
}

/** How a process is asked to stop what it does (Ctrl-C), or to end. */
export type Interrupt = "stop" | "end";

/**
 * What this process is asked, as it comes: Ctrl-C as `stop`, `kill` and a closed terminal as `end`. From the first reading
 * until the signal aborts or the loop is left the process does not end by itself then, unless nobody reads any more. `told`
 * is told each at once.
 */
export async function* interrupts(
  signal: AbortSignal,
  told: (asked: Interrupt) => void,
): AsyncGenerator<Interrupt, void> {
  const bell = new Bell();
  const waiting: Interrupt[] = [];
  const listeners = SIGNALS.map((name) => {
    const take = (): void => {
      if (waiting.length === PATIENCE) process.exit(1);
      const asked = name === "SIGINT" ? "stop" : "end";
      waiting.push(asked);
      told(asked);
      bell.ring();
    };
    process.on(name, take);
    return [name, take] as const;
  });
  try {
    while (!signal.aborted) {
      const next = waiting.shift();
      if (next === undefined) await bell.listen(signal);
      else yield next;
    }
  } finally {
    for (const [name, take] of listeners) process.off(name, take);
  }
}
