import { setTimeout as sleep } from "node:timers/promises";

/** Comes back when `isSo` says so. @throws Error when it does not for a minute: then it never will */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`not so within a minute: ${isSo}`);
    await sleep(10);
  }
}
