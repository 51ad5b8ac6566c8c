import { path, Refused, read, Unreachable } from "../api.ts";
import { ansiText } from "../content/styled.ts";
import { fill, h, setText } from "../dom.ts";
import { empty, failure, loading } from "../parts/states.ts";
import type { App } from "../view.ts";
import { WindowList, type WindowRow } from "../window-list.ts";
import type { RunLog } from "../wire.ts";
import { type LogRow, promptIn, rowsOf } from "./log-rows.ts";
import {
  endFrom,
  heldBytes,
  isReplaced,
  type LogWindow,
  openedLog,
  type Piece,
  READ_BYTES,
  withEarlier,
  withLater,
} from "./log-window.ts";

/** A log that has grown by more than this since it was looked at is opened at its end again. */
const FAR = 8 * READ_BYTES;

/** The log of a run. */
export interface LogPane {
  readonly element: HTMLElement;
  /** Reads what is new. Never fails: what can't be read is said in the pane. */
  refresh(): Promise<void>;
  /** What the run was asked to do, whole where one read holds it; undefined when its log does not tell. @throws Refused, Unreachable */
  prompt(): Promise<ReturnType<typeof promptIn>>;
  close(): void;
}

/** Opens the log of the run `name` at its end. */
export function openLogPane(name: string, app: App): LogPane {
  return new Pane(name, app);
}

class Pane implements LogPane {
  readonly element: HTMLElement;
  readonly #app: App;
  readonly #url: string;
  readonly #ended = new AbortController();
  readonly #size = h("span", { class: "quiet" });
  readonly #state = h("div", {}, loading("Loading the log"));
  readonly #list = h("div");
  readonly #box = h("div", { class: "log-box", tabindex: 0, role: "region", "aria-label": "Log" }, this.#list);
  readonly #toStart: HTMLButtonElement;
  readonly #follow: HTMLButtonElement;
  readonly #window: WindowList;
  readonly #rows = new WeakMap<Piece, readonly LogRow[]>();
  #log: LogWindow | undefined;
  /** Reads follow one another: each begins where the one before has ended. */
  #turn: Promise<void> = Promise.resolve();
  #reading = false;

  constructor(name: string, app: App) {
    this.#app = app;
    this.#url = path("runs", name);
    this.#toStart = button("To the start", () => void this.#queue(() => this.#open("start")));
    this.#follow = button("Follow", () => void this.#queue(() => this.#open("end")));
    this.#follow.hidden = true;
    const head = h("header", { class: "pane-head" }, h("h2", {}, "Log"), this.#size, this.#toStart, this.#follow);
    this.element = h("section", { class: "pane log", "aria-label": "Log" }, head, this.#state, this.#box);
    this.#window = new WindowList({
      box: this.#box,
      list: this.#list,
      follows: true,
      near: (end) => this.#near(end),
      pinned: () => this.#tell(),
    });
  }

  refresh(): Promise<void> {
    return this.#queue(async () => {
      const log = this.#log;
      if (log === undefined || log.pieces.length === 0) return this.#open("end");
      if (!this.#isAtEnd(log)) {
        // Only how long it is now: what is new is far from what is shown.
        const read = await this.#read(log.size);
        if (isReplaced(log, read)) return this.#anew();
        this.#log = { ...log, size: read.size };
        return this.#tell();
      }
      await this.#readOn(log);
    });
  }

  async prompt(): ReturnType<LogPane["prompt"]> {
    const first = this.#log?.pieces[0];
    const known = first?.from === 0 ? promptIn(first.text) : undefined;
    return known !== undefined && !known.cut ? known : promptIn((await this.#read(0)).text);
  }

  close(): void {
    this.#ended.abort();
    this.#window.close();
  }

  #read(from: number): Promise<RunLog> {
    return read<RunLog>(this.#url, { from }, this.#ended.signal);
  }

  #queue(work: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(work).catch((error) => this.#tellFailure(error));
    return this.#turn;
  }

  #tellFailure(error: unknown): void {
    if (this.#ended.signal.aborted || (error instanceof Unreachable && this.#log !== undefined)) return;
    const again = error instanceof Refused && error.status === 404 ? undefined : () => void this.refresh();
    fill(this.#state, failure("The log can't be read.", error, again));
  }

  #isAtEnd(log: LogWindow): boolean {
    return heldBytes(log).to >= log.size || this.#window.pinned;
  }

  async #open(at: "start" | "end"): Promise<void> {
    let from = 0;
    let read = await this.#read(0);
    if (read.hasLog === false) {
      fill(this.#state, empty("The log of this run is lost.", h("p", {}, "What is known is from its saved job.")));
      this.#box.hidden = this.#toStart.hidden = true;
      return;
    }
    if (at === "end" && read.next < read.size) {
      from = endFrom(read.size);
      read = await this.#read(from);
    }
    this.#set(openedLog(from, read));
    if (at === "start") this.#window.toStart();
    else this.#window.toEnd();
    this.#tell();
    if (at === "end" && this.#log !== undefined && heldBytes(this.#log).to > 0) await this.#readOn(this.#log);
  }

  async #anew(): Promise<void> {
    await this.#open("end");
    this.#app.note("The log was written anew: this is its end now.");
  }

  /** Reads until there is nothing more. */
  async #readOn(before: LogWindow): Promise<void> {
    for (let log = before; ; ) {
      const read = await this.#read(heldBytes(log).to);
      if (isReplaced(log, read)) return this.#anew();
      if (this.#window.pinned && read.size - heldBytes(log).to > FAR) return this.#open("end");
      // Where one has scrolled up, the end is not run after: what is held is what is looked at.
      const goesOn = read.text !== "" && read.next < read.size && this.#window.pinned;
      if (read.text !== "" || read.size !== log.size) this.#set(withLater(log, read));
      this.#tell();
      if (!goesOn || this.#log === undefined) return;
      log = this.#log;
    }
  }

  #near(end: "first" | "last"): void {
    const log = this.#log;
    if (log === undefined || this.#reading) return;
    const { from, to } = heldBytes(log);
    if (end === "first" ? from === 0 : to >= log.size) return;
    // The end of what is held is not the end of the log, so the view is not held there.
    if (end === "last") this.#window.letGo();
    this.#reading = true;
    void this.#queue(() => (end === "first" ? this.#earlier() : this.#later())).finally(() => {
      this.#reading = false;
    });
  }

  async #earlier(): Promise<void> {
    const log = this.#log;
    const until = log === undefined ? 0 : heldBytes(log).from;
    if (log === undefined || until === 0) return;
    const from = Math.max(0, until - READ_BYTES);
    const read = await this.#read(from);
    if (isReplaced(log, read)) return this.#anew();
    this.#set(withEarlier(log, from, read));
    this.#tell();
  }

  async #later(): Promise<void> {
    const log = this.#log;
    if (log === undefined) return;
    const read = await this.#read(heldBytes(log).to);
    if (isReplaced(log, read)) return this.#anew();
    this.#set(withLater(log, read));
    this.#tell();
  }

  #set(log: LogWindow): void {
    this.#log = log;
    const rows = log.pieces.flatMap((piece) => this.#rowsOf(piece));
    this.#window.set(rows.map(windowRow));
  }

  #rowsOf(piece: Piece): readonly LogRow[] {
    const known = this.#rows.get(piece);
    if (known !== undefined) return known;
    const rows = rowsOf(piece);
    this.#rows.set(piece, rows);
    return rows;
  }

  #tell(): void {
    const log = this.#log;
    if (log === undefined) return;
    const { from, to } = heldBytes(log);
    const isFollowed = this.#window.pinned && to >= log.size;
    const isAll = from === 0 && to >= log.size;
    setText(this.#size, isAll ? sizeOf(log.size) : `${sizeOf(to - from)} of ${sizeOf(log.size)}`);
    this.#toStart.hidden = log.size === 0;
    this.#follow.hidden = isFollowed || log.size === 0;
    fill(this.#state, log.size === 0 && empty("Nothing is in the log yet."));
  }
}

function windowRow(row: LogRow): WindowRow {
  return { key: row.key, version: `${row.kind}${row.text}`, make: () => rowElement(row) };
}

function rowElement({ time, text, kind }: LogRow): HTMLElement {
  const label = time === undefined ? undefined : h("span", { class: "log-time" }, `${time} `);
  return h(
    "div",
    { class: time === undefined ? "log-row more" : "log-row", "data-kind": kind, dir: "auto" },
    label,
    ansiText(text),
  );
}

function button(label: string, click: () => void): HTMLButtonElement {
  return h("button", { type: "button", class: "button small", on: { click } }, label);
}

/** A number of bytes for people. */
function sizeOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const [large, unit] = bytes < 1024 * 1024 ? [bytes / 1024, "KB"] : [bytes / 1024 / 1024, "MB"];
  return `${large < 10 ? large.toFixed(1) : Math.round(large)} ${unit}`;
}
