import { dirname, join } from "node:path";
import type { Clock } from "../../../src/platform/clock.ts";
import { ClaudeChats } from "../../../src/stores/claude/chats.ts";
import type { ClaudePlace } from "../../../src/stores/claude/place.ts";
import type { SessionRef } from "../../../src/stores/store.ts";
import { type ChatStore, type JsonlContractGiven, jsonlStoreContract, storeContract } from "../contract.ts";
import { FIXTURES, LATER, placeNamed, placesIn } from "./fixtures.ts";

/** The chats as a store, as far as the contract needs one. */
function openStore(home: string, clock: Clock = LATER): ChatStore {
  const chats = new ClaudeChats({ clock, isLive: () => false });
  const projects = join(home, "projects");
  const placeAt = (ref: SessionRef): ClaudePlace => ref.place as ClaudePlace;
  return {
    agent: "claude",
    find: async (id) => {
      const place = placesIn(projects).find(({ session }) => session === id);
      return place && { agent: "claude", id, place };
    },
    entries: (ref, from, budget) => chats.entries(placeAt(ref), from, budget),
    before: (ref, before, budget) => chats.before(placeAt(ref), before, budget),
    record: (ref, pos) => chats.record(placeAt(ref), pos),
    children: (ref) => chats.children(placeAt(ref)),
    child: async (ref, child) => {
      const place = await chats.child(placeAt(ref), child);
      return place && { agent: "claude", id: ref.id, child, place };
    },
  };
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
