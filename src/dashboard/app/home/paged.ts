import { appended, type Dated, inPlace, mergeFirstPage } from "./merge.ts";

/** A page of a list. */
export interface PageOf<T> {
  readonly rows: readonly T[];
  /** The `before` of the next page; null at the end. */
  readonly next: string | null;
  readonly total: number;
}

/** Where a list comes from. */
export interface PagedOptions<T> {
  read(before: string | undefined, limit: number, signal: AbortSignal): Promise<PageOf<T>>;
  keyOf(row: T): string;
  /** Something of the list is another. */
  changed(): void;
  /** Rows of a page. */
  readonly size: number;
}

/** What of the list could not be had. */
export interface Trouble {
  readonly of: "first" | "more" | "news";
  readonly error: unknown;
}

/** The most that the API gives in one page. */
const MOST = 500;

/** A list that is read page by page as it is needed, and kept up to date from its top. */
export class PagedList<T extends Dated> {
  /** As they are shown. */
  rows: readonly T[] = [];
  /** All there are, on whatever page. */
  total = 0;
  /** The first page was read. */
  ready = false;
  loading = false;
  trouble: Trouble | undefined;
  readonly #options: PagedOptions<T>;
  readonly #end = new AbortController();
  /** As the server has them; another order than `rows` while that is held. */
  #latest: readonly T[] = [];
  #moved = new Set<string>();
  #next: string | null = null;

  constructor(options: PagedOptions<T>) {
    this.#options = options;
  }

  /** There is more than was read. */
  get hasMore(): boolean {
    return this.#next !== null;
  }

  /** How many rows would stand elsewhere than they are shown. */
  get held(): number {
    return this.#moved.size;
  }

  /** Reads the first `count` rows. */
  async start(count = this.#options.size): Promise<void> {
    await this.#load("first", async (signal) => {
      let rows: readonly T[] = [];
      let before: string | undefined;
      do {
        const limit = Math.min(Math.max(this.#options.size, count - rows.length), MOST);
        const page = await this.#options.read(before, limit, signal);
        rows = appended(rows, page.rows, this.#options.keyOf);
        before = page.next ?? undefined;
        this.total = page.total;
      } while (before !== undefined && rows.length < count);
      this.#set(rows);
      this.#next = before ?? null;
      this.ready = true;
    });
  }

  /** Reads the next page. */
  async more(): Promise<void> {
    const before = this.#next;
    if (before === null || this.loading) return;
    await this.#load("more", async (signal) => {
      const { rows, next, total } = await this.#options.read(before, this.#options.size, signal);
      // Another list may have taken its place meanwhile.
      if (this.#next !== before) return;
      const { keyOf } = this.#options;
      this.rows = appended(this.rows, rows, keyOf);
      this.#latest = appended(this.#latest, rows, keyOf);
      this.#next = next;
      this.total = total;
    });
  }

  /** Reads the first page again; while `hold()`, the rows stay in the order in which they are shown until `apply`. */
  async refresh(hold: () => boolean): Promise<readonly T[]> {
    if (!this.ready) {
      if (!this.loading) await this.start();
      return this.rows;
    }
    const { read, size, keyOf } = this.#options;
    try {
      let page = await read(undefined, size, this.#end.signal);
      let merged = mergeFirstPage(this.#latest, page.rows, page.next === null, keyOf);
      if (merged === undefined) {
        page = await read(undefined, MOST, this.#end.signal);
        merged = mergeFirstPage(this.#latest, page.rows, page.next === null, keyOf);
      }
      if (this.#end.signal.aborted) return [];
      this.#latest = merged?.rows ?? page.rows;
      // So much is new that what was read no longer follows it.
      if (merged === undefined || merged.rows.length <= page.rows.length) this.#next = page.next;
      for (const key of merged?.moved ?? page.rows.map(keyOf)) this.#moved.add(key);
      this.total = page.total;
      this.trouble = undefined;
      if (this.#moved.size > 0 && hold() && merged !== undefined) {
        this.rows = inPlace(this.rows, this.#latest, keyOf);
        this.#options.changed();
      } else this.apply();
      return page.rows;
    } catch (error) {
      this.#fail("news", error);
      return [];
    }
  }

  /** Shows the rows in their own order. */
  apply(): void {
    this.#set(this.#latest);
    this.#options.changed();
  }

  /** Puts `row` where the list has one with its key. */
  replace(row: T): void {
    const { keyOf, changed } = this.#options;
    const key = keyOf(row);
    const put = (rows: readonly T[]): readonly T[] => rows.map((each) => (keyOf(each) === key ? row : each));
    this.rows = put(this.rows);
    this.#latest = put(this.#latest);
    changed();
  }

  close(): void {
    this.#end.abort();
  }

  #set(rows: readonly T[]): void {
    this.rows = rows;
    this.#latest = rows;
    this.#moved = new Set();
  }

  async #load(of: Trouble["of"], work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.loading = true;
    this.trouble = undefined;
    this.#options.changed();
    try {
      await work(this.#end.signal);
      this.loading = false;
      if (!this.#end.signal.aborted) this.#options.changed();
    } catch (error) {
      this.loading = false;
      this.#fail(of, error);
    }
  }

  #fail(of: Trouble["of"], error: unknown): void {
    if (this.#end.signal.aborted) return;
    this.trouble = { of, error };
    this.#options.changed();
  }
}
