import { callServer, pathOf } from "../../client/api.ts";
import { Failure } from "../../platform/failure.ts";
import { asObject, asString } from "../../platform/read.ts";
import { printableLine } from "../../transcript/printable.ts";
import type { OptionValues } from "../arguments.ts";
import type { Context, ExitCode } from "../command.ts";
import { allInput } from "../input.ts";
import { printJson } from "../print.ts";
import { withProgress } from "../progress.ts";
import { serverOf } from "../server-of.ts";
import { callerOf, questionLines } from "./questions.ts";
import type { OPTIONS } from "./sessions.ts";
import { shownSession } from "./shown.ts";
import { sessionWord } from "./words.ts";

type Values = OptionValues<typeof OPTIONS>;

/** No limit: what a turn takes, it takes. */
const UNTIL_ENDED = { patienceMs: Number.POSITIVE_INFINITY };

/** `sessions prompt`: gives an agent something to do. */
export async function prompt(context: Context, options: Values, [id, ...words]: readonly string[]): Promise<ExitCode> {
  const { terminal } = context;
  const session = sessionWord("prompt", id === undefined ? [] : [id]);
  const text = await textOf(context, "prompt", words);
  const server = await serverOf(context, options.home);
  const { interrupt, wait } = options;
  const answer = await withProgress(terminal, "Waiting for the session", () =>
    callServer(
      server,
      "POST",
      pathOf("", "api", "sessions", session, "prompt"),
      { prompt: text, interrupt, wait },
      UNTIL_ENDED,
    ),
  );
  if (options.json) await printJson(terminal, answer);
  if (!wait) return 0;
  const reason = asString(asObject(answer)?.reason) ?? "unknown";
  if (!options.json) await terminal.out(`${printableLine(reason)}\n`);
  if (reason === "awaiting-input") {
    const asked = shownSession(await callServer(server, "GET", pathOf("", "api", "sessions", session)));
    await terminal.err(questionLines(asked, callerOf(context, options.home)).join(""));
  }
  return reason === "completed" ? 0 : 1;
}

/** `sessions input`: types into a command or terminal. */
export async function input(context: Context, options: Values, [id, ...words]: readonly string[]): Promise<ExitCode> {
  const session = sessionWord("input", id === undefined ? [] : [id]);
  const { end } = options;
  const given = words.length > 0 || !end || !context.input.isTerminal;
  const text = given ? await textOf(context, "input", words) : "";
  const typed = words.length > 0 ? `${text}\n` : text;
  if (typed === "" && !end) return 0;
  const body = { ...(typed !== "" && { text: typed }), ...(end && { end }) };
  return done(context, options, "POST", [session, "input"], body);
}

/** `sessions answer`: answers a question for permission. */
export async function answer(context: Context, options: Values, words: readonly string[]): Promise<ExitCode> {
  const [id, toolCallId, optionId, ...more] = words;
  if (id === undefined || toolCallId === undefined || optionId === undefined || more.length > 0) {
    throw new Failure("usage", "sessions answer needs the id of a session, of its question's call, and of an option");
  }
  return done(context, options, "POST", [id, "permissions"], { toolCallId, optionId });
}

/** `sessions cancel`: ends the turn that runs. */
export function cancel(context: Context, options: Values, words: readonly string[]): Promise<ExitCode> {
  return done(context, options, "POST", [sessionWord("cancel", words), "cancel"]);
}

/** `sessions stop`: ends a session. */
export function stop(context: Context, options: Values, words: readonly string[]): Promise<ExitCode> {
  return done(context, options, "DELETE", [sessionWord("stop", words)]);
}

/** `sessions restart`: ends a session and starts another that goes on from it. */
export function restart(context: Context, options: Values, words: readonly string[]): Promise<ExitCode> {
  return done(context, options, "POST", [sessionWord("restart", words), "restart"]);
}

/** Does it, and prints what the session is then. */
async function done(
  context: Context,
  options: Values,
  method: "POST" | "DELETE",
  path: readonly string[],
  body?: object,
): Promise<ExitCode> {
  const { terminal } = context;
  const server = await serverOf(context, options.home);
  const answer = await withProgress(terminal, "Waiting for the session", () =>
    callServer(server, method, pathOf("", "api", "sessions", ...path), body, UNTIL_ENDED),
  );
  const { id, status } = shownSession(answer);
  if (options.json) await printJson(terminal, answer);
  else await terminal.out(`${printableLine(id)}  ${printableLine(status)}\n`);
  return 0;
}

/** The words of the command line, or what comes from standard input. @throws Failure usage: neither */
async function textOf({ input }: Context, verb: string, words: readonly string[]): Promise<string> {
  if (words.length > 0) return words.join(" ");
  if (input.isTerminal) {
    throw new Failure("usage", `sessions ${verb} needs a text: give it behind --, or on standard input`);
  }
  return allInput(input);
}
