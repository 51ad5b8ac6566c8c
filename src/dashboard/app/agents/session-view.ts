import { fill, h } from "../dom.ts";
import { agentBadge } from "../parts/agent.ts";
import { failure, loading } from "../parts/states.ts";
import { hashOf } from "../places.ts";
import type { App, View } from "../view.ts";
import type { OwnSession } from "../wire.ts";
import { type DrivePanel, drivePanel } from "./drive.ts";
import { followSession } from "./follow-session.ts";
import { callName, isOurs } from "./standing.ts";
import { transcriptLinks } from "./transcript-links.ts";

/** The view of the session `id`, which was started from here or recorded by another program. */
export function openOwnSession(id: string, app: App): View {
  const element = h("main", { class: "own" }, loading());
  let shown: DrivePanel | undefined;
  app.title(id);

  const tell = (session: OwnSession): void => {
    if (session.id !== id) app.go({ view: "agent", id: session.id }, { replace: true });
    else if (shown === undefined) {
      shown = drivePanel({ app, session });
      app.title(callName(session));
      fill(element, header(session), shown.element);
    } else shown.update(session);
  };
  const follow = followSession(app, id, tell, (error) => {
    // What is shown stays, and goes on by itself.
    if (shown === undefined)
      fill(
        element,
        failure("This session can't be shown", error, () => follow.again()),
      );
  });
  return {
    element,
    close() {
      follow.close();
      shown?.close();
    },
  };
}

function header(session: OwnSession): HTMLElement {
  const { agent, kind, cwd, argv, restartedFrom } = session;
  return h(
    "header",
    { class: "own-header" },
    h("h1", {}, h("bdi", {}, callName(session))),
    h(
      "p",
      { class: "own-facts" },
      isOurs(session) && (agent === undefined ? h("span", { class: "quiet" }, kind) : agentBadge(agent)),
      cwd !== "" && h("bdi", { class: "folder" }, cwd),
      argv !== undefined && h("code", { dir: "auto" }, argv.join(" ")),
      restartedFrom !== undefined &&
        h("a", { href: hashOf({ view: "agent", id: restartedFrom }) }, "Goes on from another"),
      transcriptLinks(session),
    ),
  );
}
