import { fill, h } from "../dom.ts";
import { agentBadge } from "../parts/agent.ts";
import { failure, loading } from "../parts/states.ts";
import { hashOf } from "../places.ts";
import type { App, View } from "../view.ts";
import type { OwnSession } from "../wire.ts";
import { lineOf } from "./command-line.ts";
import { drivePanel } from "./drive.ts";
import { followSession } from "./follow-session.ts";
import { type OutputPane, outputPane } from "./output-pane.ts";
import { callName, isOurs, KIND_NAMES } from "./standing.ts";
import { transcriptLinks } from "./transcript-links.ts";

/** The view of the session `id`, which was started from here or recorded by another program. */
export function openOwnSession(id: string, app: App): View {
  const element = h("main", { class: "own" }, loading());
  let shown: { update(session: OwnSession): void; close(): void } | undefined;
  app.title(id);

  const tell = (session: OwnSession): void => {
    if (session.id !== id) app.go({ view: "agent", id: session.id }, { replace: true });
    else if (shown === undefined) {
      app.title(callName(session));
      shown = showSession(element, session, app);
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

function showSession(
  element: HTMLElement,
  session: OwnSession,
  app: App,
): { update(session: OwnSession): void; close(): void } {
  const head = h("header");
  const panel = drivePanel({ app, session });
  let last = session;
  let output: OutputPane | undefined;
  const openOutput = (): HTMLElement => {
    output = outputPane(last);
    return output.element;
  };
  const closeOutput = (): void => {
    output?.close();
    output?.element.remove();
    output = undefined;
  };
  fillHead(head, session);
  if (session.kind === "agent") {
    const toggle = (): void => {
      if (fold.open) fold.append(openOutput());
      else closeOutput();
    };
    const fold = h("details", { class: "raw", on: { toggle } }, h("summary", {}, "What its process printed"));
    fill(element, head, panel.element, isOurs(session) && fold);
  } else fill(element, head, openOutput(), panel.element);
  return {
    update(next) {
      if (JSON.stringify(next) !== JSON.stringify(last)) fillHead(head, next);
      last = next;
      panel.update(next);
      output?.update(next);
    },
    close() {
      panel.close();
      closeOutput();
    },
  };
}

/** What a session is: what does not change while it runs, but for where its transcript is. */
function fillHead(head: HTMLElement, session: OwnSession): void {
  const { agent, kind, cwd, argv, restartedFrom } = session;
  fill(
    head,
    h("h1", {}, h("bdi", {}, callName(session))),
    h(
      "p",
      { class: "own-facts" },
      agent === undefined ? h("span", { class: "quiet" }, KIND_NAMES[kind]) : agentBadge(agent),
      cwd !== "" && h("bdi", { class: "folder" }, cwd),
      argv !== undefined && h("code", { dir: "ltr" }, lineOf(argv)),
      restartedFrom !== undefined && h("a", { href: hashOf({ view: "agent", id: restartedFrom }) }, "Restarted from"),
      transcriptLinks(session),
    ),
  );
}
