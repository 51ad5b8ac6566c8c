import type { Asset } from "../server/asset.ts";

/** What the build makes of `app`: the page itself, and the files that it loads. */
export interface Dashboard {
  /** The HTML of `/`, for who has the key. */
  readonly html: string;
  readonly files: readonly Asset[];
}

/** The dashboard as it was built into the file; undefined when the program runs from its source, where nothing built it. */
export const DASHBOARD: Dashboard | undefined = typeof __DASHBOARD__ === "undefined" ? undefined : __DASHBOARD__;

declare const __DASHBOARD__: Dashboard | undefined;
