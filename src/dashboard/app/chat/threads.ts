import { readableLine } from "../../../transcript/printable.ts";
import { h, setText } from "../dom.ts";
import { agentBadge } from "../parts/agent.ts";
import { refetching } from "../parts/refetch.ts";
import type { App } from "../view.ts";
import type { Subagent } from "../wire.ts";
import { ChatPane } from "./pane.ts";
import type { ItemRow } from "./rows.ts";
import { type ChatSource, readSubagents } from "./source.ts";

/** What threads are made with. */
export interface ThreadOptions {
  readonly app: App;
  readonly source: ChatSource;
  readonly childHash?: (child: string) => string;
  readonly childSource?: (child: string) => ChatSource;
  /** Something is about to unfold. */
  opened(): void;
  /** Something was folded again. */
  folded(): void;
}

/** How often the states of subagents are asked for at most, in ms. */
const REFRESH_MS = 2_000;
/** Threads that stay open at most: each follows its chat. */
const MOST_OPEN = 8;

/** The subagents of a chat: a line each with its state, that opens the subagent's own chat in its place. */
export class Threads {
  readonly #options: ThreadOptions;
  readonly #open = new Map<string, ChatPane>();
  readonly #status = new Map<string, Subagent>();
  readonly #shown = new Map<string, HTMLElement>();
  // What is shown stays where that fails; the chat itself says when the session can't be read.
  readonly #refetch = refetching((signal) => this.#refresh(signal), { gap: REFRESH_MS });
  readonly #off: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ThreadOptions) {
    this.#options = options;
    this.#off = options.app.live.on("transcripts", () => this.#shown.size > 0 && this.#refetch.ask());
  }

  close(): void {
    this.#off();
    this.#refetch.close();
    clearTimeout(this.#timer);
    for (const pane of this.#open.values()) pane.close();
    this.#open.clear();
  }

  /** The row of a subagent. */
  make({ key, held: { item } }: ItemRow, at: HTMLElement | undefined): HTMLElement {
    const { id = "", title = "", agent = "" } = item.subagent ?? {};
    const status = h("span", { class: "status" });
    const { childHash, childSource } = this.#options;
    const element = h("article", { class: "row subagent" });
    const button = h(
      "button",
      {
        class: "line bare fold",
        "aria-expanded": String(this.#open.has(key)),
        disabled: childSource === undefined,
      },
      h("span", { class: "quiet" }, "Subagent"),
      h("bdi", { class: "title clip" }, readableLine(title) || id),
      agent !== "" && agentBadge(agent),
      status,
    );
    button.addEventListener("click", () => {
      if (!this.#open.has(key)) this.#options.opened();
      this.#toggle(key, id, title);
      button.setAttribute("aria-expanded", String(this.#open.has(key)));
      this.#place(key, element);
      if (!this.#open.has(key)) this.#options.folded();
    });
    element.append(button);
    if (childHash !== undefined) {
      element.append(h("a", { class: "button small plain beside", href: childHash(id) }, "Open beside"));
    }
    if (at !== undefined) element.append(at);
    this.#place(key, element);
    this.#shown.set(id, status);
    this.#show(id);
    if (!this.#status.has(id)) this.#refetch.ask();
    return element;
  }

  #toggle(key: string, id: string, title: string): void {
    const open = this.#open.get(key);
    if (open !== undefined) {
      this.#open.delete(key);
      open.close();
      return;
    }
    const { childSource, childHash, app } = this.#options;
    if (childSource === undefined) return;
    const [oldest] = this.#open;
    if (this.#open.size >= MOST_OPEN && oldest !== undefined) {
      oldest[1].close();
      oldest[1].element.remove();
      this.#open.delete(oldest[0]);
    }
    const label = `Subagent ${readableLine(title)}`;
    this.#open.set(
      key,
      new ChatPane({ app, source: childSource(id), label, nested: true, ...(childHash && { childHash }), childSource }),
    );
  }

  #place(key: string, element: HTMLElement): void {
    const pane = this.#open.get(key);
    element.classList.toggle("open", pane !== undefined);
    element.querySelector(":scope > .chat")?.remove();
    if (pane !== undefined) element.append(pane.element);
  }

  async #refresh(signal: AbortSignal): Promise<void> {
    for (const child of await readSubagents(this.#options.source, signal)) {
      this.#status.set(child.id, child);
      this.#show(child.id);
    }
    clearTimeout(this.#timer);
    if (!signal.aborted && this.#isRunning()) this.#timer = setTimeout(() => this.#refetch.ask(), 2 * REFRESH_MS);
  }

  #isRunning(): boolean {
    return [...this.#shown].some(([id, status]) => status.isConnected && this.#status.get(id)?.status === "running");
  }

  #show(id: string): void {
    const status = this.#shown.get(id);
    const child = this.#status.get(id);
    if (status === undefined || child === undefined) return;
    status.dataset.status = child.status;
    setText(status, child.status === "unknown" ? "" : child.status);
  }
}
