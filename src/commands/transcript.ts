import type { Item } from "../transcript/item.ts";
import { printable } from "../transcript/printable.ts";
import type { Style } from "./style.ts";
import { day, timeOfDay } from "./when.ts";

/** What stands above a chat. */
export interface Heading {
  readonly title: string;
  readonly facts: readonly string[];
}

/** Writes a chat for reading: a new day is told once, and an output that follows its call stands under it. */
export class TranscriptWriter {
  readonly #style: Style;
  #day = "";
  #last: Item | undefined;
  #begun = false;

  constructor(style: Style) {
    this.#style = style;
  }

  /** What stands above the chat. */
  heading({ title, facts }: Heading): string {
    this.#begun = true;
    const { bold, dim } = this.#style;
    const about = facts.map(line).filter((fact) => fact !== "");
    return `${bold(line(title))}\n${dim(about.join(" · "))}\n`;
  }

  /** What `item` looks like, with the blank line before it unless it is the first of all. */
  write(item: Item): string {
    const text = this.#written(item);
    const shown = this.#begun ? text : text.replace(/^\n/, "");
    this.#begun = true;
    return shown;
  }

  #written(item: Item): string {
    const today = day(item.at);
    const newDay = today === this.#day ? "" : `\n${this.#style.dim(`── ${today} ──`)}\n`;
    const answers =
      newDay === "" && item.of !== undefined && this.#last?.of === undefined && item.of === this.#last?.ref;
    this.#day = today;
    this.#last = item;
    return answers ? this.#output(item) : newDay + this.#item(item);
  }

  #item(item: Item): string {
    const { bold, dim, green, yellow } = this.#style;
    const time = dim(timeOfDay(item.at));
    switch (item.kind) {
      case "user":
        return `\n${bold(green("user"))}  ${time}\n${body(item.text)}`;
      case "assistant":
        return `\n${bold("assistant")}  ${time}\n${body(item.text)}`;
      case "subagent":
        return `\n${yellow("subagent")}  ${time}  ${line(item.subagent?.title)}  ${dim(`--child ${item.subagent?.id}`)}\n`;
      case "tool": {
        const head = `${yellow(line(item.tool))}  ${time}  ${line(item.summary)}`.trimEnd();
        return `\n${head}\n${this.#output(item)}`;
      }
    }
  }

  /** What a tool printed. It stands behind a bar, so that it can't be taken for what somebody said. */
  #output({ text, error }: Item): string {
    const { dim, red } = this.#style;
    const bar = dim("│");
    const shown = printable(text ?? "").trimEnd();
    const lines = [...(error ? [red("failed")] : []), ...(shown === "" ? [] : shown.split("\n"))];
    return lines.map((each) => `${bar} ${each}\n`).join("");
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
