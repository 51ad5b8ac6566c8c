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
