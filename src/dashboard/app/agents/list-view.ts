import { read } from "../api.ts";
import { fill, h } from "../dom.ts";
import { agentBadge, folder } from "../parts/agent.ts";
import { commandLine } from "../parts/command.ts";
import { button } from "../parts/controls.ts";
import { lacksTitle, ownName, recordedTitles, type Titles } from "../parts/own-name.ts";
import { liveSessions } from "../parts/own-sessions.ts";
import { refetching } from "../parts/refetch.ts";
import { empty, failure, loading, reasonOf } from "../parts/states.ts";
import { time } from "../parts/time.ts";
import { bdi, quiet } from "../parts/words.ts";
import { hashOf } from "../places.ts";
import type { WindowRow } from "../standing-rows.ts";
import type { App, View } from "../view.ts";
import { WindowList } from "../window-list.ts";
import type { OwnSession, OwnSessionPage } from "../wire.ts";
import { type OwnList, withFirstPage, withNextPage } from "./own-list.ts";
import { exitWords, isOurs, KIND_NAMES } from "./standing.ts";
import { statusChip } from "./status-line.ts";

const AT = "/api/sessions";
const LIMIT = 50;

/** The list of the sessions that were started from here, and of those that other programs recorded. */
export function openList(app: App): View {
  const list = h("div", { role: "list" });
  const box = h("main", { class: "own own-list" });
  const note = h("div");
  const left = new AbortController();
  let known: OwnList | undefined;
  let titles: Titles = new Map();
  let loadingMore = false;

  const rows = new WindowList({
    box,
    list,
    near: (end) => {
      if (end === "last") void more();
    },
  });
  const show = (): void => {
    if (known === undefined) return;
    rows.set(rowsOf(known, titles, app));
    const isEmpty = known.live.length + known.ended.length === 0;
    fill(note, isEmpty && empty("No agent was started from here yet.", startLink("Start one")));
  };
  const refetch = refetching(
    async (signal) => {
      // All that is live: there are never many, and each of them matters.
      const live = await liveSessions(signal);
      const ended = await read<OwnSessionPage>(AT, { state: "ended", limit: LIMIT }, signal);
      const found = await recordedTitles(signal);
      if (signal.aborted) return;
      titles = found;
      known = withFirstPage(known, live, ended);
      show();
    },
    {
      failed(error) {
        if (known === undefined)
          fill(
            note,
            failure("The sessions can't be listed", error, () => refetch.ask()),
          );
      },
    },
  );
  const more = async (): Promise<void> => {
    if (known === undefined || known.next === null || loadingMore) return;
    loadingMore = true;
    const before = known.next;
    try {
      const page = await read<OwnSessionPage>(AT, { state: "ended", limit: LIMIT, before }, left.signal);
      if (known.next === before) known = withNextPage(known, page);
      fill(note);
      loadingMore = false;
      show();
    } catch (error) {
      if (left.signal.aborted) return;
      const again = (): void => {
        loadingMore = false;
        fill(note);
        void more();
      };
      fill(
        note,
        h("p", { class: "fault", role: "alert" }, `What ended earlier is missing: ${reasonOf(error)} `),
        button("Try again", again, ""),
      );
    }
  };

  fill(box, h("header", { class: "own-top" }, h("h1", {}, "Agents"), startLink("Start an agent")), list, note);
  fill(note, loading());
  app.title("Agents");
  const off = app.live.on("sessions", () => refetch.ask());
  const offTitles = app.live.on("transcripts", () => {
    if (known?.live.some((session) => lacksTitle(session, titles.get(session.id)))) refetch.ask();
  });
  refetch.ask();
  return {
    element: box,
    close() {
      off();
      offTitles();
      refetch.close();
      left.abort();
      rows.close();
    },
  };
}

function startLink(words: string): HTMLElement {
  return h("a", { class: "button main", href: hashOf({ view: "start" }) }, words);
}

function rowsOf({ live, ended }: OwnList, titles: Titles, app: App): readonly WindowRow[] {
  return [
    ...(live.length === 0 ? [] : [headRow("Live")]),
    ...live.map((session) => sessionRow(session, titles.get(session.id), app)),
    ...(ended.length === 0 ? [] : [headRow("Ended")]),
    ...ended.map((session) => sessionRow(session, titles.get(session.id), app)),
  ];
}

function headRow(words: string): WindowRow {
  return { key: words, make: () => h("div", { role: "listitem" }, h("h2", { class: "day" }, words)) };
}

function sessionRow(session: OwnSession, title: string | undefined, app: App): WindowRow {
  const parts = (): Node[] => sessionParts(session, ownName(session, title), app.now());
  return {
    key: `s ${session.id}`,
    version: JSON.stringify([session, title]),
    make: () => h("div", { role: "listitem", class: "own-row entry", "data-status": session.status }, parts()),
    update(element) {
      if (element.contains(document.activeElement)) return false;
      element.dataset.status = session.status;
      fill(element, parts());
      return true;
    },
  };
}

function sessionParts(session: OwnSession, called: string, now: number): Node[] {
  const { id, agent, kind, cwd, argv, startedAt, endedAt, permissions = [] } = session;
  const asked = permissions[0]?.title;
  const facts = h(
    "span",
    { class: "facts" },
    agent === undefined ? quiet(isOurs(session) ? KIND_NAMES[kind] : "Recorded") : agentBadge(agent),
    cwd !== "" && folder(cwd),
    argv !== undefined && h("code", { class: "clip", dir: "ltr" }, commandLine(argv)),
    asked !== undefined && bdi(`asks: ${asked}`, "clip asked"),
    exitWords(session) !== undefined && quiet(exitWords(session)),
  );
  const name = h("a", { class: "go clip", href: hashOf({ view: "agent", id }) }, bdi(called));
  return [name, statusChip(session), facts, time(endedAt ?? startedAt, now, endedAt === undefined ? "since" : "ago")];
}
