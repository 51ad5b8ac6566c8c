import { type Child, h } from "../dom.ts";
import { ansiRuns } from "./ansi.ts";
import { cssOf, DARK, LIGHT, plainOn, readableOn, rgbOf } from "./colour.ts";
import type { Colour, Style } from "./sgr.ts";

/**
 * `text` as a terminal would show it in `style`: a bare text where the style is plain. Its colours can be read in the light
 * and in the dark. The text must be readable already.
 */
export function styledSpan(text: string, style: Style): Node | string {
  const [fg, bg] = style.inverse ? [style.bg, style.fg] : [style.fg, style.bg];
  const classes = LOOKS.filter((look) => style[look] === true).map((look) => `sgr-${look}`);
  if (style.inverse && bg === undefined) classes.push("sgr-inverse");
  else if (fg !== undefined && bg === undefined)
    classes.push(typeof fg === "number" && fg < 16 ? `sgr-${fg}` : "sgr-fg");
  else if (bg !== undefined) classes.push("sgr-bg");
  else if (style.dim) classes.push("sgr-dim");
  if (classes.length === 0) return text;
  const span = h("span", { class: classes.join(" ") }, text);
  colour(span, classes, fg, bg);
  return span;
}

/** What a terminal shows of `text`: its colours and looks, and lines that were written over in their last state. */
export function ansiText(text: string): Child {
  return ansiRuns(text).runs.map((run) => styledSpan(run.text, run.style));
}

const LOOKS = ["bold", "italic", "underline", "strike"] as const;

/** Sets the colours that no class stands for, each as custom properties of the element. */
function colour(span: HTMLElement, classes: readonly string[], fg: Colour | undefined, bg: Colour | undefined): void {
  if (classes.includes("sgr-bg") && bg !== undefined) {
    const ground = rgbOf(bg);
    span.style.setProperty("--bg", cssOf(ground));
    span.style.setProperty("--fg", cssOf(fg === undefined ? plainOn(ground) : readableOn(rgbOf(fg), ground)));
  } else if (classes.includes("sgr-fg") && fg !== undefined) {
    span.style.setProperty("--in-light", cssOf(readableOn(rgbOf(fg), LIGHT)));
    span.style.setProperty("--in-dark", cssOf(readableOn(rgbOf(fg), DARK)));
  }
}
