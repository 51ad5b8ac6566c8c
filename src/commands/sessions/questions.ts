import type { PermissionOption } from "../../agents/event.ts";
import type { Environment } from "../../platform/environment.ts";
import { printableLine } from "../../transcript/printable.ts";
import type { Context } from "../command.ts";
import { inFull, type Program, shellWord } from "../program.ts";
import type { ShownQuestion, ShownSession } from "./shown.ts";

/** How the commands that answer a question are to be called. */
export interface Caller {
  readonly program: Program;
  readonly environment: Environment;
}

/** How the commands are to be called that are given the same home as this one was. */
export function callerOf({ program, environment }: Pick<Context, "program" | "environment">, home?: string): Caller {
  return { program, environment: environment(home) };
}

/** What the session's agent asks, and the commands that answer it, to be pasted into any shell: lines with their ends. */
export function questionLines({ id, permissions }: Pick<ShownSession, "id" | "permissions">, caller: Caller): string[] {
  return permissions.flatMap((question) => [
    asking(question),
    ...question.options.map(
      ({ optionId, name }) => `  ${printableLine(name)}: ${answerCommand(caller, id, question.toolCallId, optionId)}\n`,
    ),
  ]);
}

/** The command that answers a question with the option, or (without) what is to stand in its place. */
export function answerCommand({ program, environment }: Caller, ...words: readonly string[]): string {
  const given = words.map((word) => shellWord(printableLine(word))).join(" ");
  return inFull(program, `sessions answer ${given}`, environment);
}

/** The question for whoever is to answer it by typing: what is asked, and the options by number, as lines. */
export function askedLines(question: ShownQuestion): string {
  const options = question.options.map(({ optionId, name }, index) => {
    const id = printableLine(optionId);
    const words = printableLine(name);
    return `  ${index + 1}  ${words === "" || words === id ? id : `${words} (${id})`}\n`;
  });
  return asking(question) + options.join("");
}

/** What stands before the place where the answer is typed. */
export const ANSWER_PROMPT = "Answer with the number or the id of an option: ";

/** What is told when something was typed before the question could be seen. */
export const DROPPED = "(What was typed before the question is dropped.)\n";

function asking({ title }: ShownQuestion): string {
  return `The agent asks for permission${title === undefined ? "" : `: ${printableLine(title)}`}\n`;
}

/** The option that was meant by what someone typed: its id, its name, or its number in the list. */
export function chosenOption(options: readonly PermissionOption[], typed: string): PermissionOption | undefined {
  const word = typed.trim();
  return (
    options.find(({ optionId }) => optionId === word) ??
    options.find(({ name }) => name.toLowerCase() === word.toLowerCase()) ??
    (/^\d{1,3}$/.test(word) ? options[Number(word) - 1] : undefined)
  );
}

/** What is told to who typed something else. */
export function noSuchOption(options: readonly PermissionOption[]): string {
  const known = options.map(({ optionId }, index) => `${index + 1} ${printableLine(optionId)}`).join(", ");
  return `Not an option; there are: ${known}\n`;
}
