import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../../src/platform/clock.ts";
import { environmentFrom } from "../../../src/platform/environment.ts";
import { createWatcher } from "../../../src/platform/watch.ts";
import { RecordedStore } from "../../../src/stores/recorded/store.ts";

/** A home with recordings, and what their chats show. */
export const FIXTURES = fileURLToPath(new URL("../../../fixtures/recorded", import.meta.url));

/** The recordings in it that are agents' sessions. */
export const SESSIONS = ["sess_11aa22bb", "sess_22bb33cc", "ses_33"] as const;

/** A store that has seen nothing over the recordings in `home`. */
export function openStore(home: string): RecordedStore {
  return new RecordedStore({
    environment: environmentFrom({ home: join(home, "nowhere"), variables: { AGENTPROTO_HOME: home } }),
    clock: systemClock,
    watcher: createWatcher(),
    extraRoots: [],
  });
}
