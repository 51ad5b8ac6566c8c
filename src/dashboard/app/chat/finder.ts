import type { App } from "../view.ts";
import type { Cursor } from "../wire.ts";
import type { Feed } from "./feed.ts";
import { type Direction, findRecord } from "./find-record.ts";
import type { PaneBar } from "./pane-bar.ts";
import type { PaneRows } from "./pane-rows.ts";
import type { ChatSource } from "./source.ts";
import { IS_WANTED, type Wanted } from "./wanted.ts";

/** What a finder looks through, and what it does with what it finds. */
export interface FinderOptions {
  readonly app: App;
  readonly source: ChatSource;
  readonly feed: Feed;
  readonly rows: PaneRows;
  readonly bar: PaneBar;
  /** Shows an item that is not held. */
  show(ref: Cursor): Promise<void>;
  failed(error: unknown): void;
}

/** Goes to the next prompt or error of a chat, held or not. */
export class Finder {
  readonly #options: FinderOptions;
  #finding: AbortController | undefined;

  constructor(options: FinderOptions) {
    this.#options = options;
  }

  /** Ends the search that is under way. */
  stop(): void {
    this.#finding?.abort();
  }

  /** Goes to what is wanted next below (or above) what is at the top of the view; reads on until there is one. */
  async find(what: Wanted, direction: Direction): Promise<void> {
    this.stop();
    const { feed, rows } = this.#options;
    const held = rows.beyond(direction, IS_WANTED[what]);
    if (held !== undefined && rows.reveal(held)) return;
    const from = direction === "up" ? feed.window.start : feed.window.end;
    const isOver = direction === "up" ? feed.atStart : feed.atEnd;
    if (isOver || from === null) return this.#none(what, direction);
    await this.#readOn(from, what, direction);
  }

  async #readOn(from: Cursor, what: Wanted, direction: Direction): Promise<void> {
    const { source, bar, show, failed } = this.#options;
    const finding = new AbortController();
    this.#finding = finding;
    bar.finding(`Looking ${direction} for the next ${what} …`);
    try {
      const ref = await findRecord(source, from, direction, IS_WANTED[what], finding.signal);
      if (finding.signal.aborted) return;
      if (ref === undefined) this.#none(what, direction);
      else await show(ref);
    } catch (error) {
      if (!finding.signal.aborted) failed(error);
    } finally {
      if (this.#finding === finding) {
        this.#finding = undefined;
        bar.finding(undefined);
      }
    }
  }

  #none(what: Wanted, direction: Direction): void {
    this.#options.app.announce(`No ${what} further ${direction}`);
  }
}
