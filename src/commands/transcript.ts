import type { Item } from "../transcript/item.ts";
import type { Style } from "./style.ts";
import { day, timeOfDay } from "./when.ts";
import { printable } from "./width.ts";

/** Writes a chat for reading; knows the day of the last item, so that a new day is told once. */
export class TranscriptWriter {
  readonly #style: Style;
  #day = "";

  constructor(style: Style) {
    this.#style = style;
  }

  /** What `item` looks like, with the blank line before it. */
  write(item: Item): string {
    const today = day(item.at);
    const newDay = today === this.#day ? "" : `\n${this.#style.dim(`── ${today} ──`)}\n`;
    this.#day = today;
    return newDay + this.#item(item);
  }

  #item(item: Item): string {
    const { bold, dim, green, yellow, red } = this.#style;
    const time = dim(timeOfDay(item.at));
    switch (item.kind) {
      case "user":
        return `\n${bold(green("user"))}  ${time}\n${body(item.text)}`;
      case "assistant":
        return `\n${bold("assistant")}  ${time}\n${body(item.text)}`;
      case "subagent":
        return `\n${yellow("subagent")}  ${time}  ${line(item.subagent?.title)}  ${dim(`--child ${item.subagent?.id}`)}\n`;
      case "tool": {
        const name = line(item.tool);
        const failed = item.error ? `  ${red("failed")}` : "";
        const summary = item.summary === undefined ? "" : `  ${line(item.summary)}`;
        const head = `\n${yellow(name)}  ${time}${failed}${summary}\n`;
        const output = item.text === undefined ? "" : quoted(item.text, dim);
        return head + output;
      }
    }
  }
}

function line(text: string | undefined): string {
  return printable(text ?? "")
    .replace(/\s+/g, " ")
    .trim();
}

function body(text: string | undefined): string {
  const shown = printable(text ?? "").trimEnd();
  return shown === "" ? "" : `${shown}\n`;
}

/** Output stands behind a bar, so that it can't be taken for what somebody said. */
function quoted(text: string, dim: Style["dim"]): string {
  const shown = printable(text).trimEnd();
  if (shown === "") return "";
  return shown
    .split("\n")
    .map((each) => `${dim("│")} ${each}\n`)
    .join("");
}
