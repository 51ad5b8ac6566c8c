import type { Store } from "../../src/stores/store.ts";
import { NotMeasurable } from "./measure.ts";

/** A fresh Claude store over the history in `home`, as the product makes it. */
export function claudeStoreOver(home: string): Store {
  throw new NotMeasurable(`no store yet for ${home}`);
}
