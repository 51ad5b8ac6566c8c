import { path, read } from "../api.ts";
import { refetching } from "../parts/refetch.ts";
import type { App } from "../view.ts";
import type { OwnSession } from "../wire.ts";

/** ms between two looks at a session: somebody waits for what comes of what they did. */
const GAP = 300;

/** Tells of the session `id` (or of that name), now and whenever something about it changed, until it is closed. */
export function followSession(
  app: Pick<App, "live">,
  id: string,
  told: (session: OwnSession) => void,
  failed: (error: unknown) => void,
): { readonly again: () => void; readonly close: () => void } {
  const refetch = refetching(
    async (signal) => {
      const session = await read<OwnSession>(path("sessions", id), {}, signal);
      if (!signal.aborted) told(session);
    },
    { failed, gap: GAP },
  );
  const off = app.live.on("sessions", ({ ids }) => {
    if (ids === undefined || ids.includes(id)) refetch.ask();
  });
  refetch.ask();
  return {
    again: refetch.ask,
    close() {
      off();
      refetch.close();
    },
  };
}
