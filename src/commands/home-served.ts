import { Failure } from "../platform/failure.ts";
import type { RuntimeNotice } from "../platform/runtime-notice.ts";

/** Another server runs on this home. */
export class HomeServed extends Failure {
  constructor(home: string, { url, pid }: RuntimeNotice) {
    super(
      "failed",
      `agent-bridge already serves ${home} at ${url} (process ${pid}); agent-bridge link prints a way in`,
    );
  }
}
