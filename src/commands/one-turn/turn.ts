import type { SessionEvent, TurnEndReason } from "../../agents/event.ts";
import type { Sessions } from "../../agents/sessions.ts";
import { createEventText } from "../../agents/show-event.ts";
import type { Bell } from "../../platform/bell.ts";
import { Failure } from "../../platform/failure.ts";
import type { SessionId } from "../../transcript/names.ts";
import { PrintableText, printable, printableJson } from "../../transcript/printable.ts";
import type { Context, ExitCode } from "../command.ts";
import type { Interrupts } from "../interrupts.ts";
import { Tap } from "../repl/tap.ts";
import { ANSWER_PROMPT, askedLines, chosenOption, DROPPED, noSuchOption } from "../sessions/questions.ts";
import type { ShownQuestion } from "../sessions/shown.ts";
import type { Terminal } from "../terminal.ts";
import { PlainLines, type TypedLines } from "../typed-lines.ts";
import type { Happenings } from "./happenings.ts";

/** A turn that is to be followed. */
export interface FollowedTurn {
  readonly sessions: Sessions;
  readonly id: SessionId;
  readonly prompt: string;
  readonly happenings: Happenings;
  readonly interrupts: Interrupts;
  /** Rings at an interrupt. */
  readonly bell: Bell;
  /** Questions for permission are put to whoever is at the terminal. */
  readonly asks: boolean;
  /** What of it is printed: everything, the reply alone, or every event as JSON. */
  readonly shape: "all" | "reply" | "json";
}

/** Sends the prompt and prints what happens until the turn has ended; questions are asked here. @throws Failure */
export async function followTurn(context: Context, turn: FollowedTurn): Promise<ExitCode> {
  const { interrupts, bell } = turn;
  const end = new AbortController();
  const events = new Tap(turn.happenings.taken(end.signal), bell);
  const lines = new PlainLines(context.input, bell, (text) => context.terminal.err(text));
  const print = printerOf(context.terminal, turn);
  try {
    await turn.sessions.prompt(turn.id, turn.prompt);
    let asked: ShownQuestion | undefined;
    let problem: string | undefined;
    for (let interrupted = false; ; ) {
      const interrupt = interrupts.take();
      if (interrupt !== undefined) {
        if (interrupted || interrupt !== "stop") return 1;
        interrupted = true;
        void cancel(context, turn);
        continue;
      }
      const happened = events.take();
      if (happened !== undefined) {
        for (const event of happened.value ?? []) {
          await print(event);
          if (event.kind === "error") problem = event.error.message;
          if (event.kind === "turn-end") return exitCodeOf(context, turn, event.reason, problem);
          asked = await askedBy(context, turn, lines, event, asked);
        }
        continue;
      }
      const line = asked === undefined ? undefined : lines.take();
      if (line !== undefined && asked !== undefined) {
        if (line.value === undefined) throw new Failure("failed", "nobody is there to answer the agent's question");
        asked = await answered(context, turn, asked, line.value);
        continue;
      }
      await bell.listen(end.signal);
    }
  } finally {
    end.abort();
    lines.close();
  }
}

/** How the command ends after a turn that ended so. @throws Failure failed: what went wrong, where nothing printed has said it */
function exitCodeOf(
  { terminal }: Context,
  { shape }: FollowedTurn,
  reason: TurnEndReason,
  problem: string | undefined,
): ExitCode {
  if (reason === "completed") return 0;
  // Whoever cancelled it knows.
  if (reason === "cancelled" || shape === "json") return 1;
  if (shape === "all" && (problem === undefined || terminal.columns !== undefined)) return 1;
  throw new Failure("failed", problem ?? `the agent ended the turn before it was done (${reason})`);
}

async function cancel({ terminal }: Context, { sessions, id }: FollowedTurn): Promise<void> {
  await terminal.err("\n(Cancelling the turn; Ctrl-C again ends the agent.)\n");
  await sessions.cancel(id);
}

/** The question that waits after `event`; who is never asked need not answer. */
async function askedBy(
  { terminal }: Context,
  { asks, sessions, id }: FollowedTurn,
  lines: TypedLines,
  event: SessionEvent,
  before: ShownQuestion | undefined,
): Promise<ShownQuestion | undefined> {
  if (event.kind === "permission-resolved") return event.toolCallId === before?.toolCallId ? undefined : before;
  if (event.kind !== "agent-prompt" || !asks) return before;
  const { toolCallId, options } = event;
  const waiting = (await sessions.find(id))?.permissions?.find((each) => each.toolCallId === toolCallId);
  const question = { toolCallId, title: waiting?.title, options };
  await terminal.err(askedLines(question));
  // Nothing that was typed before it stood there is an answer to it.
  if (await lines.fresh()) await terminal.err(DROPPED);
  await terminal.err(ANSWER_PROMPT);
  return question;
}

async function answered(
  { terminal }: Context,
  { sessions, id }: FollowedTurn,
  asked: ShownQuestion,
  typed: string,
): Promise<ShownQuestion | undefined> {
  const option = chosenOption(asked.options, typed);
  if (option === undefined) {
    await terminal.err(`${noSuchOption(asked.options)}${ANSWER_PROMPT}`);
    return asked;
  }
  await sessions.answer(id, asked.toolCallId, option.optionId);
  return undefined;
}

function printerOf(terminal: Terminal, { shape, asks }: FollowedTurn): (event: SessionEvent) => Promise<void> {
  const shown = createEventText();
  switch (shape) {
    case "json":
      return (event) => terminal.out(`${printableJson(event)}\n`);
    case "reply":
      return replyPrinter(terminal);
    case "all":
      return async (event) => {
        if (isToldElsewhere(event, terminal, asks)) return;
        const text = shown.show(event);
        if (text !== "") await terminal.out(terminal.colours ? text : printable(text));
      };
  }
}

/** Whether whoever looks at the output learns of it in another way: who gave the prompt knows it. */
function isToldElsewhere({ kind }: SessionEvent, { columns }: Terminal, asks: boolean): boolean {
  if (kind === "error") return columns === undefined;
  return kind === "user-prompt" || (kind === "agent-prompt" && asks && columns !== undefined);
}

/** The reply alone; whatever it ends with, the line is ended. */
function replyPrinter(terminal: Terminal): (event: SessionEvent) => Promise<void> {
  const reply = new PrintableText();
  let isLineOpen = false;
  return async (event) => {
    const rest = event.kind === "turn-end" ? reply.end() : "";
    const text = event.kind === "text-delta" ? reply.add(event.text) : rest;
    if (text !== "") isLineOpen = !text.endsWith("\n");
    const end = event.kind === "turn-end" && isLineOpen ? "\n" : "";
    if (text + end !== "") await terminal.out(text + end);
  };
}
