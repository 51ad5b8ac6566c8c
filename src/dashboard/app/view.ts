import type { Live } from "./live/live.ts";
import type { KeyHelp } from "./parts/keys.ts";
import type { Place } from "./places.ts";

/** A view that fills the page below its header. */
export interface View {
  readonly element: HTMLElement;
  /**
   * Goes to another place of the same view without being made anew (a filter, another item of the same session);
   * false when it can't.
   */
  move?(place: Place): boolean;
  /**
   * Takes a key that nothing else took; true when it did something with it. Of what is typed into a field, and of keys
   * pressed with Ctrl, Meta or Alt, it is told Escape alone.
   */
  key?(event: KeyboardEvent): boolean;
  /** The keys that it takes, for the list of all keys. */
  readonly keys?: readonly KeyHelp[];
  /** Sets the focus where reading starts. */
  focus?(): void;
  /** Ends all that it follows. */
  close(): void;
}

/** What a view may use of the page around it. */
export interface App {
  readonly live: Live;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Goes to `place`; with `replace`, Back does not come back to where one was. */
  go(place: Place, options?: { readonly replace?: boolean }): void;
  /** What the tab is called while this view is shown; "" is the program's name alone. */
  title(text: string): void;
  /** Says something to who does not see the page, politely. */
  announce(text: string): void;
  /** Shows a short note for some seconds, and announces it; `failed` ones stay until they are dismissed. */
  note(text: string, kind?: "done" | "failed"): void;
}
