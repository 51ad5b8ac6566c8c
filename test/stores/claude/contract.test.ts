import { dirname, join } from "node:path";
import type { Clock } from "../../../src/platform/clock.ts";
import { environmentFrom } from "../../../src/platform/environment.ts";
import { createWatcher } from "../../../src/platform/watch.ts";
import { openClaude } from "../../../src/stores/claude/open.ts";
import { type ChatStore, type JsonlContractGiven, jsonlStoreContract, storeContract } from "../contract.ts";
import { FIXTURES, LATER, placeNamed, placesIn } from "./fixtures.ts";

function openStore(home: string, clock: Clock = LATER): ChatStore {
  const environment = environmentFrom({ home, variables: { CLAUDE_CONFIG_DIR: home } });
  return openClaude({ environment, clock, watcher: createWatcher(), extraRoots: {} });
}

const given: JsonlContractGiven = {
  fixtures: FIXTURES,
  sessions: placesIn(join(FIXTURES, "projects")).map(({ session }) => session),
  open: openStore,
  foreignCursors: ["h:1", "o:1:prt_1", "j:1:2", "j:01:0", "j:1:0:0a1b2c3d", "j:9007199254740993:0", "x"],
  transcript(home, session, child) {
    const place = placeNamed(join(home, "projects"), session);
    if (child === undefined || /^0000/.test(child) || child === "7a7a7a7a") return place.mainFile;
    if (child === "1a2b3c4d") return join(dirname(place.mainFile), `agent-${child}.jsonl`);
    const folder = child === "a00000000000000a7" ? "subagents/workflows/wf_1" : "subagents";
    return join(place.sideFolder, folder, `agent-${child}.jsonl`);
  },
  line: (session, text) =>
    JSON.stringify({ type: "user", message: { role: "user", content: text }, sessionId: session }),
};

storeContract(given);
jsonlStoreContract(given);
