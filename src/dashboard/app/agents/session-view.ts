import { readableLine } from "../../../transcript/printable.ts";
import { path } from "../api.ts";
import { fill, h } from "../dom.ts";
import { agentBadge } from "../parts/agent.ts";
import { commandLine } from "../parts/command.ts";
import { copyButton } from "../parts/copy.ts";
import { exportMenu, linkTo } from "../parts/export.ts";
import { lacksTitle, ownName, recordedTitles } from "../parts/own-name.ts";
import { failure, loading } from "../parts/states.ts";
import { bdi, quiet } from "../parts/words.ts";
import { hashOf } from "../places.ts";
import type { App, View } from "../view.ts";
import type { OwnSession } from "../wire.ts";
import { agentChat } from "./agent-chat.ts";
import { drivePanel } from "./drive.ts";
import { followSession } from "./follow-session.ts";
import { type OutputPane, outputPane } from "./output-pane.ts";
import { isOurs, KIND_NAMES } from "./standing.ts";
import { transcriptLinks } from "./transcript-links.ts";

/** The view of the session `id`, which was started from here or recorded by another program. */
export function openOwnSession(id: string, app: App): View {
  const element = h("main", { class: "own" }, loading());
  let shown: Shown | undefined;
  app.title(id);

  const tell = (session: OwnSession): void => {
    if (session.id !== id) app.go({ view: "agent", id: session.id }, { replace: true });
    else if (shown === undefined) {
      shown = showSession(element, session, app);
    } else shown.update(session);
  };
  const follow = followSession(app, id, tell, (error) => {
    // What is shown stays, and goes on by itself.
    if (shown === undefined)
      fill(
        element,
        h("h1", { class: "hidden" }, "Session"),
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

/** What is shown of a session. */
interface Shown {
  update(session: OwnSession): void;
  close(): void;
}

function showSession(element: HTMLElement, session: OwnSession, app: App): Shown {
  const heading = h("div", { class: "heading" });
  const place = { view: "agent", id: session.id } as const;
  const more =
    session.kind === "agent"
      ? exportMenu(app, { path: path("sessions", session.id), place })
      : copyButton(app, "Copy link", "Link", () => linkTo(place));
  const head = h("header", { class: "session-head" }, heading, h("div", { class: "actions" }, more));
  const left = new AbortController();
  let last = session;
  let title: string | undefined;
  const paint = (): void => {
    app.title(ownName(last, title));
    fillHeading(heading, last, ownName(last, title));
  };
  /** What it was asked first is known once that is recorded. */
  const findTitle = async (): Promise<void> => {
    if (!lacksTitle(last, title)) return;
    title = (await recordedTitles(left.signal)).get(last.id);
    if (title !== undefined && !left.signal.aborted) paint();
  };
  paint();
  void findTitle();
  const off = app.live.on("transcripts", ({ ids }) => {
    if (ids === undefined || ids.includes(last.id)) void findTitle();
  });
  const shown = session.kind === "agent" ? agentParts(session, app) : programParts(session, app);
  element.classList.add(session.kind === "agent" ? "session" : "program");
  fill(element, head, shown.parts);
  return {
    update(next) {
      const isNew = JSON.stringify(next) !== JSON.stringify(last);
      last = next;
      if (isNew) {
        paint();
        void findTitle();
      }
      shown.update(next);
    },
    close() {
      off();
      left.abort();
      shown.close();
    },
  };
}

type Parts = Shown & { readonly parts: readonly HTMLElement[] };

/** A conversation above what drives it. What its process printed beside is rarely of interest, and read only when opened. */
function agentParts(session: OwnSession, app: App): Parts {
  const chat = agentChat(app, session.id);
  const panel = drivePanel({ app, session, changed: () => chat.look() });
  let last = session;
  let output: OutputPane | undefined;
  const closeOutput = (): void => {
    output?.close();
    output?.element.remove();
    output = undefined;
  };
  const toggle = (): void => {
    closeOutput();
    if (!fold.open) return;
    output = outputPane(last);
    fold.append(output.element);
  };
  const fold = h("details", { class: "raw", on: { toggle } }, h("summary", {}, "What its process printed"));
  return {
    parts: [chat.element, h("div", { class: "session-foot" }, panel.element, isOurs(session) && fold)],
    update(next) {
      last = next;
      chat.look();
      panel.update(next);
      output?.update(next);
    },
    close() {
      chat.close();
      panel.close();
      closeOutput();
    },
  };
}

/** A program's screen above what drives it. */
function programParts(session: OwnSession, app: App): Parts {
  const output = outputPane(session);
  const panel = drivePanel({ app, session });
  return {
    parts: [output.element, panel.element],
    update(next) {
      output.update(next);
      panel.update(next);
    },
    close() {
      output.close();
      panel.close();
    },
  };
}

/** What a session is: what does not change while it runs, but for where its transcript is. */
function fillHeading(heading: HTMLElement, session: OwnSession, called: string): void {
  const { agent, kind, cwd, argv, restartedFrom } = session;
  fill(
    heading,
    h("h1", { dir: "auto" }, readableLine(called)),
    h(
      "p",
      { class: "facts" },
      agent === undefined ? quiet(KIND_NAMES[kind]) : agentBadge(agent),
      cwd !== "" && bdi(cwd, "folder"),
      argv !== undefined && h("code", { dir: "ltr" }, commandLine(argv)),
      restartedFrom !== undefined && h("a", { href: hashOf({ view: "agent", id: restartedFrom }) }, "Restarted from"),
      transcriptLinks(session),
    ),
  );
}
