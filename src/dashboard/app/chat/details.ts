import { itemOf } from "../content/item-of.ts";
import { markdown } from "../content/markdown.ts";
import { plain } from "../content/plain.ts";
import { toolDetail } from "../content/tool-detail.ts";
import { button, isWorking, setWorking } from "../parts/controls.ts";
import { reasonOf } from "../parts/states.ts";
import type { App } from "../view.ts";
import type { Item } from "../wire.ts";
import type { CallRow } from "./rows.ts";
import { type ChatSource, readRecord } from "./source.ts";

type Detail = ReturnType<typeof toolDetail>;

/** Calls whose details stay made when they leave the window. */
const MOST_OPEN = 30;

/** What is unfolded below the lines of calls: read once, kept while its row is out of the window. */
export class Details {
  readonly #app: App;
  readonly #source: ChatSource;
  readonly #open = new Map<string, Detail>();

  constructor(app: App, source: ChatSource) {
    this.#app = app;
    this.#source = source;
  }

  /** What is unfolded below the call `key`. */
  of(key: string): HTMLElement | undefined {
    return this.#open.get(key)?.element;
  }

  /** Unfolds the details of a call, or folds them: undefined. */
  toggle({ key, call, outputs }: CallRow): HTMLElement | undefined {
    if (this.#open.delete(key)) return undefined;
    const [oldest] = this.#open.keys();
    if (this.#open.size >= MOST_OPEN && oldest !== undefined) this.#open.delete(oldest);
    const detail = toolDetail({
      call: call?.item,
      outputs: outputs.map(({ item }) => item),
      load: (ref) => readRecord(this.#source, ref),
      app: this.#app,
    });
    detail.element.classList.add("detail");
    this.#open.set(key, detail);
    return detail.element;
  }

  /** Brings what is unfolded of a call up to date. */
  update({ key, call, outputs }: CallRow): void {
    const items = outputs.map(({ item }) => item);
    this.#open.get(key)?.update(call?.item, items);
  }

  /** A button that puts the whole of a text that was cut in its place. */
  whole(item: Item): HTMLElement {
    const press = button("Show the whole", () => void show());
    const show = async (): Promise<void> => {
      if (isWorking(press)) return;
      setWorking(press, true);
      try {
        const text = itemOf(await readRecord(this.#source, item.ref), item)?.text;
        if (text === undefined) {
          this.#app.note("The whole of this text could not be told from the rest of its record.", "failed");
        } else {
          press.previousElementSibling?.replaceWith(
            item.kind === "assistant" ? markdown(text, this.#app) : plain(text),
          );
          press.remove();
        }
      } catch (error) {
        this.#app.note(reasonOf(error), "failed");
      } finally {
        setWorking(press, false);
      }
    };
    return press;
  }
}
