import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { Clock } from "../../../src/platform/clock.ts";
import { environmentFrom } from "../../../src/platform/environment.ts";
import { createWatcher } from "../../../src/platform/watch.ts";
import { openClaude } from "../../../src/stores/claude/open.ts";
import type { Store } from "../../../src/stores/store.ts";
import { START } from "../../../src/transcript/cursor.ts";
import { type JsonlContractGiven, jsonlStoreContract, storeContract } from "../contract.ts";
import { copiedProjects, FIXTURES, LATER, PAGE, placeNamed, placesIn } from "./fixtures.ts";

function openStore(home: string, clock: Clock = LATER): Store {
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

test("a report says of which transcripts not every line could be shown", async (t) => {
  const projects = copiedProjects(t);
  const { mainFile, session } = placeNamed(projects, "1cff4ceb");
  appendFileSync(mainFile, '{"parentUuid":null,"type":"user","message":{"role":"us\n');
  const store = openStore(dirname(projects));
  const ref = await store.find(session);
  assert.ok(ref);
  await store.entries(ref, START, PAGE);
  const reason = "a line of a transcript is no whole record";
  assert.deepEqual((await store.report()).skipped, [{ reason, count: 1, example: mainFile }]);
});
