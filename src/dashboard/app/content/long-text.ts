import { h, setText } from "../dom.ts";
import { ALL, type Limit, lineCount, pieceEnd } from "./pieces.ts";

/** A text, and how it is shown when it is long. */
export interface LongText {
  readonly text: string;
  /** What is shown at first. */
  readonly first: Limit;
  /** What each press shows besides; all that is left without it. */
  readonly step?: Limit;
  /** The element that it stands in. */
  readonly into: HTMLElement;
  /** How the piece from `from` to before `to` is shown; asked for from the beginning on, and anew from there. */
  render(from: number, to: number): Node;
}

/** Shows the beginning of a text, and gives the button that shows the rest; undefined when that is all of it. */
export function longText({ text, first, step = ALL, into, render }: LongText): HTMLButtonElement | undefined {
  const start = pieceEnd(text, 0, first);
  let end = start;
  into.replaceChildren(render(0, end));
  if (end === text.length) return undefined;
  const button = h("button", { type: "button", class: "button small more", "aria-expanded": "false" });
  const say = (): void => {
    button.setAttribute("aria-expanded", String(end > start));
    setText(button, end === text.length ? "Show less" : labelOf(text, end, pieceEnd(text, end, step)));
  };
  button.addEventListener("click", () => {
    if (end === text.length) {
      end = start;
      into.replaceChildren(render(0, end));
      button.scrollIntoView({ block: "nearest" });
    } else {
      const from = end;
      end = pieceEnd(text, from, step);
      into.append(render(from, end));
    }
    say();
  });
  say();
  return button;
}

/** What the button says that shows the text from `from` to `to` besides. */
function labelOf(text: string, from: number, to: number): string {
  const broken = text[from - 1] !== "\n" || (to < text.length && text[to - 1] !== "\n");
  const count = (part: string): number => (broken ? part.length : lineCount(part));
  const unit = broken ? "characters" : "lines";
  if (to === text.length) return `Show all ${COUNT.format(count(text))} ${unit}`;
  return `Show ${COUNT.format(count(text.slice(from, to)))} more ${unit} of ${COUNT.format(count(text))}`;
}

const COUNT = new Intl.NumberFormat("en");
