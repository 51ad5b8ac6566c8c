import { path, Refused, read, Unreachable } from "../api.ts";
import { ansiText } from "../content/styled.ts";
import { fill, h, setText } from "../dom.ts";
import { button } from "../parts/controls.ts";
import { size } from "../parts/measures.ts";
import { refill } from "../parts/refill.ts";
import { empty, failure, loading } from "../parts/states.ts";
import type { WindowRow } from "../standing-rows.ts";
import type { App } from "../view.ts";
import { WindowList } from "../window-list.ts";
import type { RunLog } from "../wire.ts";
import { type LogRow, type Prompt, promptIn, rowsOf } from "./log-rows.ts";
import { heldBytes, type LogWindow, openedLog, type Piece, READ_BYTES, withEarlier, withLater } from "./log-window.ts";

/** A log that has grown by more than this since it was looked at is opened at its end again. */
const FAR = 8 * READ_BYTES;

/** The log of a run. */
export interface LogPane {
  readonly element: HTMLElement;
  /** Reads what is new. Never fails: what can't be read is said in the pane. */
  refresh(): Promise<void>;
  /** What the run was asked to do; undefined when its log does not tell. @throws Refused, Unreachable */
  prompt(): Promise<Prompt | undefined>;
  close(): void;
}

/** The log was written anew since it was last read. */
class Replaced extends Error {}

/** Opens the log of the run `name` at its end. */
export function openLogPane(name: string, app: App): LogPane {
  const ended = new AbortController();
  const sizes = h("span", { class: "quiet" });
  const state = h("div", {}, loading("Loading the log"));
  const list = h("div");
  const box = h("div", { class: "log-box", tabindex: 0, role: "region", "aria-label": "Log" }, list);
  const first = button("First", () => queue(() => open(false)));
  const follow = button("Follow", () => queue(() => open(true)));
  const head = h("header", { class: "pane-head" }, h("h2", {}, "Log"), sizes, first, follow);
  const known = new WeakMap<Piece, readonly WindowRow[]>();
  let log: LogWindow | undefined;
  let turn = Promise.resolve();
  let isMoving = false;

  const isWhole = (): boolean => log !== undefined && heldBytes(log).to >= log.size;
  const rows = new WindowList({ box, list, follows: isWhole, near: (end) => near(end), pinned: () => tell() });

  const ask = async (from: number): Promise<RunLog> => {
    const answer = await read<RunLog>(path("runs", name), { from }, ended.signal);
    if (log !== undefined && answer.size < log.size) throw new Replaced();
    return answer;
  };

  /** Reads follow one another: each begins where the one before has ended. */
  const queue = (work: () => Promise<void>): Promise<void> => {
    turn = turn.then(work).catch(async (error) => {
      if (!(error instanceof Replaced)) return fail(error);
      log = undefined;
      app.note("The log was written anew: this is its end now.");
      await open(true).catch(fail);
    });
    return turn;
  };

  const fail = (error: unknown): void => {
    if (ended.signal.aborted || (error instanceof Unreachable && log !== undefined)) return;
    const isGone = error instanceof Refused && error.status === 404;
    fill(state, failure("The log can't be read.", error, isGone ? undefined : () => void refresh()));
  };

  const open = async (atEnd: boolean): Promise<void> => {
    let from = 0;
    let answer = await ask(0);
    if (answer.hasLog === false) {
      fill(state, empty("The log is lost.", "What is shown is from the saved job."));
      head.hidden = box.hidden = true;
      return;
    }
    if (atEnd && answer.next < answer.size) {
      from = Math.max(0, answer.size - READ_BYTES);
      answer = await ask(from);
    }
    set(openedLog(from, answer));
    if (atEnd) rows.toEnd();
    else rows.toStart();
    tell();
  };

  const refresh = (): Promise<void> =>
    queue(async () => {
      if (log === undefined || log.pieces.length === 0) return open(true);
      const { to } = heldBytes(log);
      // Where the end is not held, only how long it is now is asked for.
      const answer = await ask(to < log.size && !rows.pinned ? log.size : to);
      if (answer.size - to > FAR && rows.pinned) return open(true);
      set(to < log.size && !rows.pinned ? { ...log, size: answer.size } : withLater(log, answer));
      // What is more than one read comes as the view comes near it.
    });

  const near = (end: "first" | "last"): void => {
    if (log === undefined || isMoving) return;
    const { from, to } = heldBytes(log);
    if (end === "first" ? from === 0 : to >= log.size) return;
    isMoving = true;
    void queue(() => (end === "first" ? earlier() : later())).then(() => {
      isMoving = false;
    });
  };

  const earlier = async (): Promise<void> => {
    if (log === undefined) return;
    const from = Math.max(0, heldBytes(log).from - READ_BYTES);
    set(withEarlier(log, from, await ask(from)));
  };

  const later = async (): Promise<void> => {
    if (log === undefined) return;
    const { to } = heldBytes(log);
    set(withLater(log, await ask(to)));
  };

  const set = (now: LogWindow): void => {
    if (now.pieces !== log?.pieces) rows.set(now.pieces.flatMap(rowsFor));
    log = now;
    tell();
  };

  const rowsFor = (piece: Piece): readonly WindowRow[] => {
    const made = known.get(piece) ?? rowsOf(piece).map(windowRow);
    known.set(piece, made);
    return made;
  };

  const tell = (): void => {
    if (log === undefined) return;
    const { from, to } = heldBytes(log);
    const all = size(log.size);
    setText(sizes, from === 0 && to >= log.size ? all : `${size(to - from)} of ${all}`);
    const isFollowed = rows.pinned && to >= log.size;
    if (isFollowed && follow === document.activeElement) box.focus({ preventScroll: true });
    follow.hidden = isFollowed;
    refill(state, [log.size === 0 && empty("Nothing is in the log yet.")], () => box.focus({ preventScroll: true }));
  };

  return {
    element: h("section", { class: "pane" }, head, state, box),
    refresh,
    async prompt() {
      return promptIn((await ask(0)).text);
    },
    close() {
      ended.abort();
      rows.close();
    },
  };
}

function windowRow(row: LogRow): WindowRow {
  return { key: row.key, version: row.text, make: () => rowElement(row) };
}

function rowElement({ time, text, kind }: LogRow): HTMLElement {
  const label = time && h("span", { class: "log-time" }, `${time} `);
  return h("div", { class: "log-row", "data-kind": kind, dir: "auto" }, label, ansiText(text));
}
