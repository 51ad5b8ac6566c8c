/** Work that is asked for more often than it should be done. */
export interface Calm {
  /** Has it done soon: at once, or when the last time is long enough ago, and not while the tab is hidden. */
  ask(): void;
  close(): void;
}

/** Does `work` at most once at a time, and begins it at most every `pauseMs`. It must not fail. */
export function calmly(work: () => Promise<void>, pauseMs = 1_000): Calm {
  let asked = false;
  let isBusy = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const turn = async (): Promise<void> => {
    if (!asked || isBusy || timer !== undefined || document.hidden) return;
    asked = false;
    isBusy = true;
    timer = setTimeout(() => {
      timer = undefined;
      void turn();
    }, pauseMs);
    try {
      await work();
    } finally {
      isBusy = false;
      void turn();
    }
  };
  const shown = (): void => void turn();
  document.addEventListener("visibilitychange", shown);
  return {
    ask() {
      asked = true;
      void turn();
    },
    close() {
      asked = false;
      isBusy = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", shown);
    },
  };
}
