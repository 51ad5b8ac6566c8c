import { readable, withoutAnsi } from "../../../transcript/printable.ts";
import { h } from "../dom.ts";
import { copyButton } from "../parts/copy.ts";
import type { App } from "../view.ts";
import type { Item } from "../wire.ts";
import { ansiRuns, overwritten } from "./ansi.ts";
import { prettyJson } from "./json-text.ts";
import { longText } from "./long-text.ts";
import { markdown } from "./markdown.ts";
import type { Limit } from "./pieces.ts";
import { scroller } from "./scroller.ts";
import type { Style } from "./sgr.ts";
import { styledSpan } from "./styled.ts";
import { toolKind } from "./summary.ts";

/** What of an output is shown at first, and what with each press besides. */
const FIRST: Limit = { lines: 200, characters: 20_000 };
const STEP: Limit = { lines: 2000, characters: 200_000 };

/** What a call gave back. `isWhole` when nothing more of it can be had: then it says so where something is missing. */
export function toolOutput(item: Item, isWhole: boolean, app: Pick<App, "note">): HTMLElement {
  const text = prettyJson(item.text ?? "") ?? overwritten(item.text ?? "").replace(/\n+$/, "");
  const copied = (): string => readable(withoutAnsi(text));
  return h(
    "figure",
    { class: item.error ? "tool-output bad" : "tool-output" },
    h(
      "figcaption",
      {},
      h("span", {}, item.error ? "Output: it failed" : "Output"),
      text !== "" && copyButton(app, "Copy", "Output", copied),
    ),
    text === "" ? h("p", { class: "quiet" }, "It printed nothing.") : bodyOf(item, text, app),
    isWhole && item.cut && h("p", { class: "quiet" }, "There is more of it, which is not told here."),
  );
}

function bodyOf(item: Item, text: string, app: Pick<App, "note">): HTMLElement {
  // What a subagent reports is written for people.
  if (toolKind(item.tool ?? "") === "task") return markdown(text, app);
  const into = scroller(h("pre", { dir: "auto" }), "Output");
  const styles = new Map<number, Style>();
  const more = longText({
    text,
    first: FIRST,
    step: STEP,
    into,
    render: (from, to) => {
      const { runs, style } = ansiRuns(text.slice(from, to), styles.get(from));
      styles.set(to, style);
      return runs.map((run) => styledSpan(run.text, run.style));
    },
  });
  return h("div", {}, into, more);
}
