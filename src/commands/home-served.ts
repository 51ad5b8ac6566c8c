import { Failure } from "../platform/failure.ts";
import type { RuntimeNotice } from "../platform/runtime-notice.ts";

/** Another server runs on this home. */
export class HomeServed extends Failure {
  constructor(home: string, { url, pid }: RuntimeNotice) {
    super("failed", `a server already runs on ${home}, at ${url} (process ${pid}); agent-bridge link prints a way in`);
  }
}
