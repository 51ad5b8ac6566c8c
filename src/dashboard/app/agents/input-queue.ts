/** What is typed into a session. */
export interface Typed {
  readonly text?: string;
  readonly end?: true;
}

/** Sends what is typed, in its order. */
export interface InputQueue {
  push(typed: Typed): void;
}

/**
 * Sends one thing at a time by `send`; what is typed meanwhile is sent together afterwards. When one is refused, what waits
 * behind it is dropped, and `failed` is told: what follows a missing part may mean something else.
 */
export function inputQueue(send: (typed: Typed) => Promise<unknown>, failed: (error: unknown) => void): InputQueue {
  let waiting: Typed[] = [];
  let sending = false;
  const run = async (): Promise<void> => {
    sending = true;
    try {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await send(next);
    } catch (error) {
      waiting = [];
      failed(error);
    } finally {
      sending = false;
    }
  };
  return {
    push(typed) {
      const last = waiting.at(-1);
      if (last?.text !== undefined && typed.text !== undefined) {
        waiting[waiting.length - 1] = { text: last.text + typed.text };
      } else waiting.push(typed);
      if (!sending) void run();
    },
  };
}
