import { read } from "../api.ts";
import { refetching } from "../parts/refetch.ts";
import type { ChatPage } from "../wire.ts";
import type { NowRow } from "./now-rows.ts";
import { type LastWords, lastWords } from "./words.ts";

/** How often at most it is looked what sessions did last: ms. */
const GAP_MS = 3_000;

/** Knows what the sessions that are shown did last. */
export class LastWordsReader {
  readonly #told: () => void;
  readonly #words = new Map<string, LastWords | undefined>();
  readonly #stale = new Set<string>();
  readonly #refetch = refetching(() => this.#read(), { gap: GAP_MS });
  #chats: readonly NonNullable<NowRow["chat"]>[] = [];

  /** `told` is called when something else is known. */
  constructor(told: () => void) {
    this.#told = told;
  }

  of(row: NowRow): LastWords | undefined {
    return row.chat && this.#words.get(row.chat.path);
  }

  /** From now on these are shown. */
  show(rows: readonly NowRow[]): void {
    this.#chats = rows.flatMap(({ chat, last }) => (chat === undefined || last !== undefined ? [] : [chat]));
    const paths = new Set(this.#chats.map(({ path }) => path));
    for (const path of this.#words.keys()) if (!paths.has(path)) this.#words.delete(path);
    for (const path of paths) if (!this.#words.has(path)) this.#stale.add(path);
    if (this.#stale.size > 0) this.#refetch.ask();
  }

  /** These sessions have changed; all may have without `ids`. */
  changed(ids: readonly string[] | undefined): void {
    for (const chat of this.#chats) {
      if (ids === undefined || chat.ids.some((id) => ids.includes(id))) this.#stale.add(chat.path);
    }
    if (this.#stale.size > 0) this.#refetch.ask();
  }

  close(): void {
    this.#refetch.close();
  }

  async #read(): Promise<void> {
    const paths = this.#chats.map(({ path }) => path).filter((path) => this.#stale.has(path));
    this.#stale.clear();
    for (const path of paths) {
      // The line is an extra: where it can't be had, opening the session says why.
      const page = await read<ChatPage>(`${path}/chat`, { from: "tail" }).catch(() => undefined);
      this.#words.set(path, page && lastWords(page.items));
    }
    this.#told();
  }
}
