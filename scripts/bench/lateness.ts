import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";

/** How late the loop of this process ran at most, during `work` and during nothing. */
export async function lateness(work: () => Promise<unknown>): Promise<{ late: number; idle: number }> {
  const during = async (what: () => Promise<unknown>): Promise<number> => {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    await pause(20);
    delay.reset();
    await what();
    await pause(5);
    delay.disable();
    return delay.max / 1e6;
  };
  return { late: await during(work), idle: await during(() => pause(200)) };
}
