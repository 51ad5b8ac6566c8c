/** Does things later; passed in, so that tests need not wait. What is still to come never keeps the process alive. */
export interface Timer {
  /** Calls `task` once, `ms` milliseconds from now, unless what is returned is called before. */
  after(ms: number, task: () => void): () => void;
}

/** The machine's timer. */
export const systemTimer: Timer = {
  after(ms, task) {
    const timeout = setTimeout(task, ms).unref();
    return () => clearTimeout(timeout);
  },
};

/** What `work` comes to, or undefined when that takes longer than `ms` milliseconds. @throws what `work` does */
export async function within<T>(timer: Timer, ms: number, work: Promise<T>): Promise<T | undefined> {
  let leave = (): void => {};
  const late = new Promise<undefined>((resolve) => {
    leave = timer.after(ms, () => resolve(undefined));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    leave();
  }
}

/** Comes back when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
