import { mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openInBrowser } from "../../client/browser.ts";
import { environmentFrom } from "../../platform/environment.ts";
import { aborted } from "../../platform/timer.ts";
import { flag, wholeNumber } from "../arguments.ts";
import { command, NO_OPERANDS } from "../command.ts";
import { logTo } from "../log.ts";
import { introduce, openServer } from "../serve.ts";
import { keepAtWork } from "./at-work.ts";
import { writeHistory } from "./history.ts";
import { demoImpossible, makeDemoFolder, removeLeftovers } from "./leftovers.ts";

/** `demo`: a made-up history, served from a temporary folder. */
export const demo = command({
  name: "demo",
  summary: "serve a made-up history, to look around in",
  operands: NO_OPERANDS,
  options: {
    port: wholeNumber("PORT", "listen there; 0 is any free port (0)", [0, 65_535]),
    open: flag("open the page in the browser"),
  },
  notes: [
    "Everything lies in a temporary folder, which is removed at the end; your own sessions and key are not touched. " +
      "The link is on localhost, so that a browser keeps its cookie apart from that of your own page.",
  ],
  examples: [["demo --open", "look at the page with something in it"]],
  async run(context, { options }) {
    const { bridge, clock, untilInterrupted, environment } = context;
    const end = untilInterrupted();
    removeLeftovers(tmpdir());
    const folder = makeDemoFolder(tmpdir(), bridge.thisProcess().pid);
    // Nothing is written any more when the folder is taken away, whatever ended the demo.
    const atWork = new AbortController();
    try {
      const userHome = join(folder, "home");
      const { platform } = environment();
      const ours = environmentFrom({ home: userHome, platform, bridgeHome: join(folder, "agent-bridge") });
      try {
        mkdirSync(userHome);
        keepAtWork(writeHistory(userHome, clock.now()), bridge.thisProcess(), clock, atWork.signal);
      } catch (error) {
        throw demoImpossible(tmpdir(), error);
      }
      const serving = await openServer(bridge, ours, options.port ?? 0, logTo(context, false));
      try {
        const link = (await bridge.wayIn(ours, serving)).replace("//127.0.0.1:", "//localhost:");
        if (options.open) openInBrowser(link, platform, () => {});
        await introduce(context, serving, { link, ours, end });
        await aborted(end);
      } finally {
        await serving.close();
      }
    } finally {
      atWork.abort();
      rmSync(folder, { recursive: true, force: true });
    }
    return 0;
  },
});
