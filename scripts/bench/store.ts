import { systemClock } from "../../src/platform/clock.ts";
import { environmentFrom } from "../../src/platform/environment.ts";
import { createWatcher } from "../../src/platform/watch.ts";
import { openStores } from "../../src/stores/registry.ts";
import type { Store } from "../../src/stores/store.ts";
import type { AgentName } from "../../src/transcript/names.ts";
import { NotMeasurable } from "./measure.ts";

/** A fresh Claude store over the history in `home`, as the product opens it. @throws NotMeasurable when there is none */
export function claudeStoreOver(home: string): Store {
  return storeOver(home, "claude");
}

/** A fresh OpenCode store likewise. @throws NotMeasurable when there is none */
export function openCodeStoreOver(home: string): Store {
  return storeOver(home, "opencode");
}

function storeOver(home: string, wanted: AgentName): Store {
  const environment = environmentFrom({ home });
  const stores = openStores({ environment, clock: systemClock, watcher: createWatcher(), extraRoots: {} });
  const store = stores.find(({ agent }) => agent === wanted);
  if (store === undefined) throw new NotMeasurable(`no store of ${wanted} is registered`);
  return store;
}
