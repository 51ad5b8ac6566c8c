import { type Child, fill, h } from "../dom.ts";
import { failure, loading } from "../parts/states.ts";
import type { App } from "../view.ts";
import type { Item, UncutItem } from "../wire.ts";
import { itemOf } from "./item-of.ts";
import { toolInput } from "./tool-input.ts";
import { toolOutput } from "./tool-output.ts";

/** A call of a tool, what it gave back, and where more of both is to be had. */
export interface ToolDetailOptions {
  readonly call: Item | undefined;
  readonly outputs: readonly Item[];
  /** The whole items of the record at `ref`, with their colours. */
  load(ref: string): Promise<readonly UncutItem[]>;
  readonly app: Pick<App, "note">;
}

/** What unfolds below the one line of a call. */
export interface ToolDetail {
  readonly element: HTMLElement;
  /** Shows what became of the call, touching only what changed. */
  update(call: Item | undefined, outputs: readonly Item[]): void;
}

/** What a call was told to do, and all that it gave back: loaded once, and again when it changed. */
export function toolDetail({ call, outputs, load, app }: ToolDetailOptions): ToolDetail {
  const input = h("div", { class: "detail-input" });
  const results = h("div", { class: "detail-outputs" });
  const loads = new Map<string, Promise<readonly UncutItem[]>>();
  const once = (ref: string): Promise<readonly UncutItem[]> => {
    const begun = loads.get(ref) ?? load(ref).finally(() => loads.delete(ref));
    loads.set(ref, begun);
    return begun;
  };
  let shown: string | undefined;
  const inputPart = new Part(input, once, {
    before: () => loading(),
    whole: (found, wanted, isFresh) => {
      const { tool, input, diffs, summary, cut }: UncutItem = found ?? wanted;
      const key = JSON.stringify([tool, input, diffs, summary, cut]);
      if (!isFresh && key === shown) return undefined;
      shown = key;
      return toolInput(found ?? wanted, app);
    },
  });
  const parts = new Map<string, Part>();
  const update = (nextCall: Item | undefined, nextOutputs: readonly Item[]): void => {
    if (nextCall !== undefined) inputPart.show(nextCall, `${nextCall.ref} ${nextCall.summary}`);
    const given = [...(nextCall?.text === undefined ? [] : [nextCall]), ...nextOutputs];
    const elements = given.map((item, index) => {
      const name = item.id ?? `${item.ref} ${index}`;
      const part = parts.get(name) ?? outputPart(once, app);
      parts.set(name, part);
      part.show(item, JSON.stringify([item.ref, item.text, item.error, item.cut]));
      return part.element;
    });
    if (elements.length === 0) fill(results, h("p", { class: "quiet" }, "No output so far."));
    else if (elements.some((element, index) => results.children[index] !== element)) fill(results, elements);
  };
  update(call, outputs);
  return { element: h("div", { class: "detail" }, call !== undefined && input, results), update };
}

function outputPart(load: ToolDetailOptions["load"], app: Pick<App, "note">): Part {
  return new Part(h("div"), load, {
    before: (item) => toolOutput(item, false, app),
    whole: (found, wanted, isFresh) => {
      const isSame = found !== undefined && found.text === wanted.text && found.error === wanted.error && !found.cut;
      return isSame && isFresh ? undefined : toolOutput(found ?? wanted, true, app);
    },
  });
}

/** How a part looks. */
interface Looks {
  /** Until it is loaded. */
  before(item: Item): Node;
  /**
   * When it is; `found` is absent when the record no longer holds the item. undefined leaves what stands there, which with
   * `isFresh` is how it looked before.
   */
  whole(found: UncutItem | undefined, wanted: Item, isFresh: boolean): Child | undefined;
}

/** A part of the detail that shows one item, whole once that is loaded. At most one load is under way. */
class Part {
  readonly element: HTMLElement;
  readonly #load: ToolDetailOptions["load"];
  readonly #looks: Looks;
  #key: string | undefined;
  #wanted: Item | undefined;
  #isLoading = false;
  #hasWhole = false;

  constructor(element: HTMLElement, load: ToolDetailOptions["load"], looks: Looks) {
    this.element = element;
    this.#load = load;
    this.#looks = looks;
  }

  /** Shows `item`; nothing happens while `key`, which tells its states apart, stays the same. */
  show(item: Item, key: string): void {
    if (key === this.#key) return;
    this.#key = key;
    this.#wanted = item;
    // What is whole stays until the next whole one is there, so that nothing flickers.
    if (!this.#hasWhole) fill(this.element, this.#looks.before(item));
    void this.#loadWhole();
  }

  async #loadWhole(): Promise<void> {
    const wanted = this.#wanted;
    if (this.#isLoading || wanted === undefined) return;
    this.#isLoading = true;
    const key = this.#key;
    try {
      const shown = this.#looks.whole(itemOf(await this.#load(wanted.ref), wanted), wanted, !this.#hasWhole);
      if (shown !== undefined) fill(this.element, shown);
      this.#hasWhole = true;
    } catch (error) {
      const again = (): void => {
        fill(this.element, this.#looks.before(wanted));
        void this.#loadWhole();
      };
      this.#hasWhole = false;
      fill(this.element, wanted.text !== undefined && this.#looks.before(wanted), failed(error, again));
    } finally {
      this.#isLoading = false;
    }
    if (key !== this.#key) void this.#loadWhole();
  }
}

function failed(error: unknown, again: () => void): Node {
  return failure("The whole of it can't be shown", error, again);
}
