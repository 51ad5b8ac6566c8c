import type { Terminal } from "./terminal.ts";

/** Work that takes less shows nothing. */
const QUIET_MS = 300;
const EVERY_MS = 200;

/**
 * Runs `work`; while it takes long, one line on the terminal says what is done. `tell` adds how far it is.
 * The line is gone before this returns.
 */
export async function withProgress<T>(
  terminal: Terminal,
  doing: string,
  work: (tell: (state: string) => void) => Promise<T>,
): Promise<T> {
  if (!terminal.showsProgress) return work(() => {});
  let state = "";
  let shown = "";
  const show = (): void => {
    const line = state === "" ? `${doing} …` : `${doing} … ${state}`;
    if (line === shown) return;
    shown = line;
    void terminal.err(`\r\u001b[K${line}`);
  };
  let every: NodeJS.Timeout | undefined;
  const start = setTimeout(() => {
    show();
    every = setInterval(show, EVERY_MS);
  }, QUIET_MS);
  // Where nobody else listens, Ctrl-C ends the program: with the line gone.
  const leave = (): void => {
    if (shown !== "") void terminal.err("\r\u001b[K");
    if (process.listenerCount("SIGINT") === 0) process.kill(process.pid, "SIGINT");
  };
  process.once("SIGINT", leave);
  try {
    return await work((text) => {
      state = text;
    });
  } finally {
    process.off("SIGINT", leave);
    clearTimeout(start);
    clearInterval(every);
    if (shown !== "") await terminal.err("\r\u001b[K");
  }
}
