import { asArray, asObject, asText } from "../../../platform/read.ts";

/** A task of a plan. */
export interface Task {
  readonly text: string;
  readonly state: "done" | "now" | "open" | "dropped";
}

/** The field of an input that holds a plan or a list of things to do, and its tasks; undefined when there is none. */
export function tasksOf(input: unknown): { readonly field: string; readonly tasks: readonly Task[] } | undefined {
  for (const field of ["todos", "plan", "entries", "items"]) {
    const tasks = asArray(asObject(input)?.[field])?.map(taskOf);
    if (tasks === undefined || tasks.length === 0) continue;
    const known = tasks.filter((task) => task !== undefined);
    if (known.length === tasks.length) return { field, tasks: known };
  }
  return undefined;
}

function taskOf(value: unknown): Task | undefined {
  const fields = asObject(value);
  const text = [fields?.content, fields?.step, fields?.title, fields?.text]
    .map(asText)
    .find((one) => one !== undefined);
  const status = asText(fields?.status);
  return text === undefined || status === undefined ? undefined : { text, state: STATES.get(status) ?? "open" };
}

const STATES: ReadonlyMap<string, Task["state"]> = new Map([
  ["completed", "done"],
  ["done", "done"],
  ["in_progress", "now"],
  ["cancelled", "dropped"],
]);
