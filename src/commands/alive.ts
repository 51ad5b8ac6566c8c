/** Keeps the process alive while `work` goes on: nothing that follows a file does. */
export async function keptAlive<T>(work: () => Promise<T>): Promise<T> {
  const alive = setInterval(() => {}, 60_000);
  try {
    return await work();
  } finally {
    clearInterval(alive);
  }
}
