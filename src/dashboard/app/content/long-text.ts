import { append, type Child, fill, h, setText } from "../dom.ts";
import { ALL, type Limit, lineCount, pieceEnd } from "./pieces.ts";

/** Something long of which the beginning is shown, and the rest on demand. */
export interface Unfolding {
  /** How long it is, in units of its own. */
  readonly length: number;
  /** The element that it stands in. */
  readonly into: HTMLElement;
  /** Up to where what begins at `from` is shown at once. */
  end(from: number): number;
  /** How the piece from `from` to before `to` is shown; asked for from the beginning on, and anew from there. */
  render(from: number, to: number): Child;
  /** What the button says that shows the piece from `from` to `to`. */
  label(from: number, to: number): string;
}

/** Shows the beginning, and gives the button that shows the rest, piece by piece; undefined when that is all of it. */
export function unfold({ length, into, end: endOf, render, label }: Unfolding): HTMLButtonElement | undefined {
  const start = endOf(0);
  let end = start;
  fill(into, render(0, end));
  if (end >= length) return undefined;
  const button = h("button", { class: "button small more" });
  const say = (): void => {
    button.setAttribute("aria-expanded", String(end > start));
    setText(button, end >= length ? "Show less" : label(end, endOf(end)));
  };
  button.addEventListener("click", () => {
    const from = end >= length ? 0 : end;
    end = endOf(from);
    if (from === 0) fill(into, render(0, end));
    else append(into, [render(from, end)]);
    say();
    if (from === 0) button.scrollIntoView({ block: "nearest" });
  });
  say();
  return button;
}

/** What the button says that shows `count` more of the `left` ones that are not shown. */
export function moreLabel(count: number, left: number, unit: string): string {
  if (count >= left) return `Show ${left.toLocaleString()} more ${unit}`;
  return `Show ${count.toLocaleString()} of ${left.toLocaleString()} more ${unit}`;
}

/** A text, and how it is shown when it is long. */
export interface LongText extends Pick<Unfolding, "into" | "render"> {
  readonly text: string;
  /** What is shown at first. */
  readonly first: Limit;
  /** What each press shows besides; all that is left without it. */
  readonly step?: Limit;
}

/** Shows the beginning of a text; as `unfold`. */
export function longText({ text, first, step = ALL, into, render }: LongText): HTMLButtonElement | undefined {
  return unfold({
    length: text.length,
    into,
    render,
    end: (from) => pieceEnd(text, from, from === 0 ? first : step),
    label: (from, to) => {
      const isWithin = text[from - 1] !== "\n" || (to < text.length && text[to - 1] !== "\n");
      if (isWithin) return moreLabel(to - from, text.length - from, "characters");
      return moreLabel(lineCount(text.slice(from, to)), lineCount(text.slice(from)), "lines");
    },
  });
}
