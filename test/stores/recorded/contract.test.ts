import { join } from "node:path";
import { type JsonlContractGiven, jsonlStoreContract, storeContract } from "../contract.ts";
import { FIXTURES, openStore, SESSIONS } from "./fixtures.ts";

const given: JsonlContractGiven = {
  fixtures: FIXTURES,
  sessions: SESSIONS,
  open: openStore,
  foreignCursors: ["h:1", "o:1:prt_1", "j:1:2", "j:01:0", "j:1:0:0a1b2c3d", "j:9007199254740993:0", "x"],
  transcript: (home, session) => join(home, "sessions", session, "events.jsonl"),
  line: (sessionId, text) =>
    JSON.stringify({ seq: 1, ts: "2026-02-03T10:00:00.000Z", kind: "user-prompt", sessionId, text }),
};

storeContract(given);
jsonlStoreContract(given);
