import type { IncomingMessage } from "node:http";
import type { Item, Page } from "../../src/transcript/item.ts";
import { type Api, ask, events, open } from "../built/product.ts";
import { soon } from "./waiting.ts";

/** A client of `…/stream`. */
export class Follower {
  /** Every item as it was told. */
  readonly told: Item[] = [];
  resets = 0;
  readonly #response: IncomingMessage;
  readonly #waiting = new Set<() => void>();
  readonly #over: Promise<void>;

  static async start(api: Api, path: string, from = "0"): Promise<Follower> {
    return new Follower(await open(api, `${path}/stream?from=${encodeURIComponent(from)}`));
  }

  private constructor(response: IncomingMessage) {
    this.#response = response;
    this.#over = this.#read();
  }

  /** The chat as it stands with what was told: an item that came again under its id is where it was first. */
  get items(): Item[] {
    return folded(this.told);
  }

  /** Comes back once the chat is such that `holds`. */
  async until(what: string, holds: (items: readonly Item[]) => boolean): Promise<void> {
    const seen = new Promise<void>((resolve) => {
      const look = () => {
        if (!holds(this.items)) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
    await soon(what, seen, () => this.items.map(brief));
  }

  async close(): Promise<void> {
    this.#response.destroy();
    await this.#over;
  }

  async #read(): Promise<void> {
    try {
      for await (const { event, data } of events(this.#response)) {
        if (event === "reset") this.resets += 1;
        const page = JSON.parse(data) as Page;
        this.told.push(...(page.items ?? []));
        for (const look of this.#waiting) look();
      }
    } catch {
      // It was closed.
    }
  }
}

/** A chat read in pages from its start to its end. */
export async function wholeChat(api: Api, path: string): Promise<{ readonly items: Item[]; readonly next: string }> {
  const items: Item[] = [];
  for (let from = "0"; ; ) {
    const { json } = await ask(api, `${path}?from=${encodeURIComponent(from)}`);
    items.push(...json.items);
    if (json.next === from) return { items: folded(items), next: json.next };
    from = json.next;
  }
}

/** An item as the tests state it: of each text, the first line that says something. */
export function brief(item: Item): string {
  const { kind, tool, summary, text, error, cut } = item;
  const said = [summary, text, item.subagent?.title].filter((part) => part !== undefined).map(firstLine);
  const isOutput = tool !== undefined && summary === undefined;
  const marks = `${isOutput ? " →" : ""}${error ? " (error)" : ""}${cut ? " (cut)" : ""}`;
  return `${[kind, tool].filter(Boolean).join(" ")}${marks}: ${said.join(" → ")}`;
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0] ?? "";
}

/** The chat that `told` comes to: an item that comes again under its id takes the place of what it was. */
export function folded(told: readonly Item[]): Item[] {
  const items: Item[] = [];
  for (const item of told) {
    const before = item.id === undefined ? -1 : items.findIndex(({ id }) => id === item.id);
    if (before >= 0) items[before] = item;
    else items.push(item);
  }
  return items;
}
