import { globSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Clock, EpochMs } from "../../../src/platform/clock.ts";
import { environmentFrom } from "../../../src/platform/environment.ts";
import { headerOf } from "../../../src/stores/codex/header.ts";
import { rolloutNameOf } from "../../../src/stores/codex/rollout-name.ts";
import { CodexStore } from "../../../src/stores/codex/store.ts";
import { type ContractGiven, jsonlStoreContract, storeContract } from "../contract.ts";
import { line, NO_WATCHER } from "./home.ts";

const folder = fileURLToPath(new URL("../../../fixtures/codex", import.meta.url));
const LATER: Clock = { now: () => Date.UTC(2030, 0, 1) as EpochMs };

function openStore(home: string, clock: Clock = LATER): CodexStore {
  const environment = environmentFrom({ home, variables: { CODEX_HOME: home }, bridgeHome: join(home, "../bridge") });
  return new CodexStore({ environment, clock, watcher: NO_WATCHER, locks: () => "" });
}

/** The sessions of a home that are a person's own. */
function sessionsIn(home: string): string[] {
  const own = globSync("{sessions/**,archived_sessions}/*.jsonl", { cwd: home }).filter((path) => {
    const [first = ""] = readFileSync(join(home, path), "utf8").split("\n");
    return headerOf(JSON.parse(first))?.role === "user";
  });
  return [...new Set(own.map((path) => rolloutNameOf(basename(path))?.thread ?? ""))].sort();
}

function transcript(home: string, session: string, child?: string): string {
  const [path = ""] = globSync(`sessions/**/*${child ?? session}.jsonl`, { cwd: home });
  return join(home, path);
}

const FOREIGN = ["h:1", "o:1:prt_1", "j:1:2", "j:01:0", "j:1:0:0a1b2c3", "j:9007199254740993:0", "x"];

for (const entry of readdirSync(folder, { withFileTypes: true })) {
  if (!entry.isDirectory()) continue;
  const fixtures = join(folder, entry.name);
  const given: ContractGiven = { fixtures, sessions: sessionsIn(fixtures), open: openStore, foreignCursors: FOREIGN };
  storeContract(given);
}

/** Homes of each generation whose chats are of one whole file each (a child that inherits context begins inside its own). */
const SINGLE = ["flat", "legacy-shell", "first-children", "paginated-child-fails"];

for (const name of SINGLE) {
  const fixtures = join(folder, name);
  const message = (text: string): object => ({
    type: "message",
    role: "user",
    content: [{ type: "input_text", text }],
  });
  const asked = (text: string): object => line(1, "event_msg", { type: "user_message", message: text });
  jsonlStoreContract({
    fixtures,
    sessions: sessionsIn(fixtures),
    open: openStore,
    foreignCursors: FOREIGN,
    transcript,
    line: (_session, text) => JSON.stringify(name === "flat" ? message(text) : asked(text)),
  });
}
