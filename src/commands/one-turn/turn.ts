import type { PermissionOption, SessionEvent, TurnEndReason } from "../../agents/event.ts";
import type { Sessions } from "../../agents/sessions.ts";
import { createEventText } from "../../agents/show-event.ts";
import { Bell } from "../../platform/bell.ts";
import { Failure } from "../../platform/failure.ts";
import type { SessionId } from "../../transcript/names.ts";
import { PrintableText } from "../../transcript/printable.ts";
import type { Context, ExitCode } from "../command.ts";
import { linesOf } from "../input.ts";
import { Tap } from "../repl/tap.ts";
import { chosenOption, noSuchOption } from "../sessions/questions.ts";
import type { Terminal } from "../terminal.ts";
import { printable, printableJson } from "../width.ts";
import type { Happenings } from "./happenings.ts";

/** A turn that is to be followed. */
export interface FollowedTurn {
  readonly sessions: Sessions;
  readonly id: SessionId;
  readonly prompt: string;
  readonly happenings: Happenings;
  /** Questions for permission are put to whoever is at the terminal. */
  readonly asks: boolean;
  /** What of it is printed: everything, the reply alone, or every event as JSON. */
  readonly shape: "all" | "reply" | "json";
}

/** A question that waits for someone at the terminal. */
interface Asked {
  readonly toolCallId: string;
  readonly options: readonly PermissionOption[];
}

/** Sends the prompt and prints what happens until the turn has ended; questions are asked here. @throws Failure */
export async function followTurn(context: Context, turn: FollowedTurn): Promise<ExitCode> {
  const end = new AbortController();
  const bell = new Bell();
  const interrupts = new Tap(context.interrupts(end.signal), bell);
  const events = new Tap(turn.happenings.taken(end.signal), bell);
  const lines = new Tap(linesOf(context.input.parts(end.signal)), bell);
  const print = printerOf(context.terminal, turn.shape);
  try {
    await turn.sessions.prompt(turn.id, turn.prompt);
    let asked: Asked | undefined;
    let problem: string | undefined;
    for (let interrupted = false; ; ) {
      const interrupt = interrupts.take();
      if (interrupt !== undefined) {
        if (interrupted || interrupt.value !== "stop") return 1;
        interrupted = true;
        void cancel(context, turn);
        continue;
      }
      const happened = events.take();
      if (happened !== undefined) {
        for (const event of happened.value ?? []) {
          await print(event);
          if (event.kind === "error") problem = event.error.message;
          if (event.kind === "turn-end") return exitCodeOf(turn, event.reason, problem);
          asked = await askedBy(context, turn, event, asked);
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
  }
}

/** How the command ends after a turn that ended so. @throws Failure failed: what went wrong, where nothing printed has said it */
function exitCodeOf({ shape }: FollowedTurn, reason: TurnEndReason, problem: string | undefined): ExitCode {
  if (reason === "completed") return 0;
  // Whoever cancelled it knows.
  if (shape !== "reply" || reason === "cancelled") return 1;
  throw new Failure("failed", problem ?? `the agent ended the turn before it was done (${reason})`);
}

async function cancel({ terminal }: Context, { sessions, id }: FollowedTurn): Promise<void> {
  await terminal.err("\n(Cancelling the turn; Ctrl-C again ends the agent.)\n");
  await sessions.cancel(id);
}

/** The question that waits after `event`; who is never asked need not answer. */
async function askedBy(
  { terminal }: Context,
  { asks }: FollowedTurn,
  event: SessionEvent,
  before: Asked | undefined,
): Promise<Asked | undefined> {
  if (event.kind === "permission-resolved") return event.toolCallId === before?.toolCallId ? undefined : before;
  if (event.kind !== "agent-prompt" || !asks) return before;
  await terminal.err("Answer with the id or the number of an option: ");
  return event;
}

async function answered(
  { terminal }: Context,
  { sessions, id }: FollowedTurn,
  asked: Asked,
  typed: string,
): Promise<Asked | undefined> {
  const option = chosenOption(asked.options, typed);
  if (option === undefined) {
    await terminal.err(noSuchOption(asked.options));
    return asked;
  }
  await sessions.answer(id, asked.toolCallId, option.optionId);
  return undefined;
}

function printerOf(terminal: Terminal, shape: FollowedTurn["shape"]): (event: SessionEvent) => Promise<void> {
  const shown = createEventText();
  switch (shape) {
    case "json":
      return (event) => terminal.out(`${printableJson(event)}\n`);
    case "reply":
      return replyPrinter(terminal);
    case "all":
      return async (event) => {
        // Who gave the prompt knows it.
        const text = event.kind === "user-prompt" ? "" : shown.show(event);
        if (text !== "") await terminal.out(terminal.colours ? text : printable(text));
      };
  }
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
