import { callServer, pathOf, type ServerAddress, serverEvents } from "../../client/api.ts";
import { Failure } from "../../platform/failure.ts";
import { asObject, asString, parseJson } from "../../platform/read.ts";
import { printableLine } from "../../transcript/printable.ts";
import type { OptionValues } from "../arguments.ts";
import type { Context, ExitCode } from "../command.ts";
import { serverOf } from "../server-of.ts";
import { isDrivenElsewhere } from "./elsewhere.ts";
import { type Caller, callerOf, questionLines } from "./questions.ts";
import { printRecording } from "./recording.ts";
import type { OPTIONS } from "./sessions.ts";
import { goesOn, type ShownSession, shownSession } from "./shown.ts";
import { shownOutput } from "./shown-output.ts";
import { TerminalModes } from "./terminal-modes.ts";
import { typeInto } from "./typing.ts";
import { sessionWord } from "./words.ts";

type Values = OptionValues<typeof OPTIONS>;

/** `sessions attach`: what a session printed and prints, until it ends or the user leaves it. */
export async function attach(context: Context, options: Values, words: readonly string[]): Promise<ExitCode> {
  const asked = sessionWord("attach", words);
  const server = await serverOf(context, options.home);
  const session = shownSession(await callServer(server, "GET", pathOf("", "api", "sessions", asked)));
  const caller = callerOf(context, options.home);
  const end = (await isDrivenElsewhere(context, options.home, session))
    ? await read(context, server, session)
    : await watched(context, server, session, caller);
  if (end === "left") {
    await context.terminal.err(`\nDetached; ${printableLine(session.name ?? session.id)} goes on.\n`);
    return 0;
  }
  const after = shownSession(await callServer(server, "GET", pathOf("", "api", "sessions", session.id)));
  await context.terminal.err(`${ending(after)}\n`);
  return after.status === "ended" ? 0 : 1;
}

/** Prints what is recorded of a session that another process drives. @throws Failure failed: the server has ended */
async function read(context: Context, server: ServerAddress, session: ShownSession): Promise<"ended" | "left"> {
  const { terminal } = context;
  const called = printableLine(session.name ?? session.id);
  await terminal.err(`${called} is driven by another process: it can only be read here. Ctrl-C leaves it.\n`);
  const signal = context.untilInterrupted();
  return (await printRecording(terminal, server, session, signal)) ? "ended" : "left";
}

/** Shows the session until its end, or until the user leaves it. @throws Failure failed: the server has ended */
async function watched(
  context: Context,
  server: ServerAddress,
  session: ShownSession,
  caller: Caller,
): Promise<"ended" | "left"> {
  const { terminal, input } = context;
  // Typed blindly, where nothing of it is shown, keys would do what nobody sees.
  const isSeen = terminal.columns !== undefined || !input.isTerminal;
  const typed = session.kind === "terminal" && goesOn(session) && isSeen;
  if (terminal.columns !== undefined && goesOn(session)) {
    const key = typed && input.isTerminal ? "Ctrl-]" : "Ctrl-C";
    await terminal.err(`Attached to ${printableLine(session.name ?? session.id)}; ${key} leaves it.\n`);
  }
  const over = new AbortController();
  const modes = new TerminalModes();
  const signal = AbortSignal.any([over.signal, context.untilInterrupted()]);
  const asides = typed
    ? typeInto({ server, id: session.id, input }, signal).then((why) => why === "detached" && over.abort())
    : tellQuestions(context, server, session, caller, signal);
  // Whatever goes wrong beside the output ends it too.
  const beside = asides.then(
    () => undefined,
    (error: unknown) => {
      over.abort();
      return error;
    },
  );
  try {
    const ended = await printed(context, server, session, modes, signal);
    over.abort();
    const problem = await beside;
    if (problem !== undefined) throw problem;
    return ended ? "ended" : "left";
  } finally {
    over.abort();
    await beside;
    if (typed && terminal.columns !== undefined) await terminal.out(modes.undone());
  }
}

/** Prints the output; whether it came to its end. */
async function printed(
  { terminal }: Context,
  server: ServerAddress,
  { id, kind }: ShownSession,
  modes: TerminalModes,
  signal: AbortSignal,
): Promise<boolean> {
  const shown = shownOutput(terminal, kind);
  for await (const { event, data } of serverEvents(server, pathOf("", "api", "sessions", id, "output", "stream"), {
    signal,
  })) {
    if (event === "end") {
      await terminal.out(shown.end());
      return true;
    }
    const chunk = asObject(parseJson(data));
    if (chunk?.cut === true) await terminal.err("… what was printed before is no longer kept …\n");
    const text = shown.add(asString(chunk?.text) ?? "");
    modes.note(text);
    await terminal.out(text);
  }
  if (!signal.aborted) throw new Failure("failed", "the server has ended, and its sessions with it");
  return false;
}

/** Says how the questions of an agent can be answered, as they come. */
async function tellQuestions(
  { terminal }: Context,
  server: ServerAddress,
  { id, kind }: ShownSession,
  caller: Caller,
  signal: AbortSignal,
): Promise<void> {
  if (kind !== "agent") return;
  const told = new Set<string>();
  for await (const { event } of serverEvents(server, "/api/events", { signal })) {
    if (event !== "hello" && event !== "sessions") continue;
    const session = await now(server, id, signal);
    const news = session?.permissions.filter(({ toolCallId }) => !told.has(toolCallId)) ?? [];
    for (const { toolCallId } of news) told.add(toolCallId);
    if (session !== undefined && news.length > 0) {
      await terminal.err(questionLines({ ...session, permissions: news }, caller).join(""));
    }
  }
}

async function now(server: ServerAddress, id: string, signal: AbortSignal): Promise<ShownSession | undefined> {
  try {
    return shownSession(await callServer(server, "GET", pathOf("", "api", "sessions", id), undefined, { signal }));
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

function ending({ id, name, status, exitCode, signal, error }: ShownSession): string {
  const how =
    error ?? (signal !== undefined ? `ended by ${signal}` : exitCode !== undefined ? `exit code ${exitCode}` : "");
  return printableLine(`${name ?? id}: ${status}${how === "" ? "" : ` (${how})`}`);
}
