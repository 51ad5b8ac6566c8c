// Loaded before a program (`node --import`): tells the process that started it how late the event loop ran since the
// last time it was asked, in ms.

import { monitorEventLoopDelay } from "node:perf_hooks";

if (process.send !== undefined) {
  const delay = monitorEventLoopDelay();
  delay.enable();
  process.on("message", (message) => {
    if (message !== "loop-delay") return;
    process.send({ p999: delay.percentile(99.9) / 1e6, max: delay.max / 1e6, samples: delay.count });
    delay.reset();
  });
  process.channel.unref();
}
