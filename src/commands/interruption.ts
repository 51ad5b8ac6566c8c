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
 * no longer ends by itself then.
 */
export function interruption(): AbortSignal {
  const interrupted = new AbortController();
  let count = 0;
  const interrupt = (): void => {
    interrupted.abort();
    if (++count === PATIENCE) process.exit(1);
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  return interrupted.signal;
}
