import { asObject, asString, type JsonObject } from "../../../platform/read.ts";
import { readable, readableLine } from "../../../transcript/printable.ts";
import { type Child, h } from "../dom.ts";
import { bdi } from "../parts/words.ts";
import type { App } from "../view.ts";
import type { UncutItem } from "../wire.ts";
import { codeBlock } from "./code.ts";
import { diffView } from "./diff-view.ts";
import { commandBeyondPatch, commandOf, editsOf } from "./edits.ts";
import { jsonLines } from "./json-text.ts";
import { markdown } from "./markdown.ts";
import { plain } from "./plain.ts";
import { type Task, tasksOf } from "./tasks.ts";

type Host = Pick<App, "note">;

/** What a call is told to do, as far as `item` says it: its changes of files, its command, its tasks, or its fields. */
export function toolInput(item: UncutItem, app: Host): readonly Child[] {
  const { tool = "", input, diffs, summary, cut } = item;
  const edits = editsOf(tool, input, diffs);
  if (edits !== undefined) return [commandView(commandBeyondPatch(input), app), diffView(edits, app)];
  if (input === undefined) {
    const words = summary === undefined || summary === "" ? undefined : plain(summary);
    return [words, cut && h("p", { class: "quiet" }, "The input is too long to be told.")];
  }
  const text = asString(input);
  if (text !== undefined) return [codeBlock(app, readable(text), "Input", "Input")];
  const fields = asObject(input);
  if (fields === undefined) return [jsonView(input, "Input", app)];
  const command = commandOf(fields);
  const plan = tasksOf(fields);
  const told = new Set([...(command === undefined ? [] : ["command", "cmd", "script"]), ...(plan ? [plan.field] : [])]);
  return [commandView(command, app), plan && tasksView(plan.tasks), fieldsView(fields, told, app)];
}

function commandView(command: string | undefined, app: Host): Child {
  return command !== undefined && codeBlock(app, readable(command), "Command", "Command");
}

/** How a task stands: what is seen, and what is said. */
const MARKS: Readonly<Record<Task["state"], readonly [string, string]>> = {
  done: ["✓", "done"],
  now: ["▸", "in work"],
  open: ["○", "open"],
  dropped: ["×", "dropped"],
};

function tasksView(tasks: readonly Task[]): HTMLElement {
  const views = tasks.map(({ text, state }) => {
    const [mark, word] = MARKS[state];
    return h(
      "li",
      { "data-state": state },
      h("span", { "aria-hidden": "true" }, mark),
      h("span", { class: "hidden" }, `${word}: `),
      bdi(text),
    );
  });
  return h("ul", { role: "list", class: "tasks" }, views);
}

function fieldsView(fields: JsonObject, told: ReadonlySet<string>, app: Host): Child {
  const rows = Object.entries(fields)
    .filter(([name, value]) => !told.has(name) && value !== undefined && value !== null)
    .map(([name, value]) => h("div", {}, h("dt", {}, readableLine(name)), h("dd", {}, valueView(name, value, app))));
  return rows.length > 0 && h("dl", { class: "tool-fields" }, rows);
}

function valueView(name: string, value: unknown, app: Host): Child {
  if (typeof value === "string") return name === "plan" ? markdown(value, app) : plain(value);
  return typeof value === "object" ? jsonView(value, "", app) : String(value);
}

function jsonView(value: unknown, label: string, app: Host): Node {
  return codeBlock(app, readable(jsonLines(value)), label, "JSON");
}
