import { callServer, pathOf, type ServerAddress, serverEvents } from "../../client/api.ts";
import type { Bell } from "../../platform/bell.ts";
import { Failure } from "../../platform/failure.ts";
import { asNumber, asObject } from "../../platform/read.ts";
import { printableLine } from "../../transcript/printable.ts";
import { asTyped } from "../api-words.ts";
import type { Context, ExitCode } from "../command.ts";
import type { Interrupt } from "../interruption.ts";
import type { Interrupts } from "../interrupts.ts";
import {
  ANSWER_PROMPT,
  answerCommand,
  askedLines,
  type Caller,
  chosenOption,
  DROPPED,
  noSuchOption,
} from "../sessions/questions.ts";
import { type RecordPrinter, recordPrinter } from "../sessions/record-printer.ts";
import { parseRecord } from "../sessions/recorded-event.ts";
import { pageReader } from "../sessions/recording.ts";
import { goesOn, type ShownQuestion, shownSession } from "../sessions/shown.ts";
import { PlainLines, type TypedLines } from "../typed-lines.ts";
import { Tap } from "./tap.ts";

/** The session that is talked with. */
export interface Talked {
  readonly server: ServerAddress;
  readonly id: string;
  readonly asJson: boolean;
  /** It was at work before the chat: a turn may run already. */
  readonly isAtWork: boolean;
  readonly interrupts: Interrupts;
  /** Rings at an interrupt. */
  readonly bell: Bell;
  readonly caller: Caller;
}

type Record = ReturnType<typeof parseRecord>;

/** What comes next, of all that is waited for. */
type Next =
  | { readonly what: "line"; readonly line: string | undefined }
  | { readonly what: "interrupt"; readonly interrupt: Interrupt }
  | { readonly what: "record"; readonly record: Record | undefined };

/** What a turn came to: the reason of its end, or that the chat is to be left before it. */
type TurnOutcome = { readonly reason: string } | "left";

/** A conversation with an agent: what is typed and what it does, until one of both has enough. */
export class Conversation {
  readonly #context: Context;
  readonly #talked: Talked;
  readonly #end = new AbortController();
  readonly #bell: Bell;
  readonly #print: RecordPrinter;
  #lines: TypedLines;
  /** From the first prompt on. */
  #records: Tap<Record> | undefined;

  constructor(context: Context, talked: Talked) {
    this.#context = context;
    this.#talked = talked;
    this.#bell = talked.bell;
    this.#lines = new PlainLines(context.input, talked.bell, (text) => context.terminal.err(text));
    this.#print = recordPrinter(context.terminal, talked.asJson);
  }

  /** @throws Failure: what the server refuses of what a pipe gives; failed: the server has gone */
  async run(): Promise<ExitCode> {
    const isTyped = this.#context.input.isTerminal;
    let code: ExitCode = 0;
    this.#lines = (await this.#context.input.editor(this.#bell)) ?? this.#lines;
    try {
      if (this.#talked.isAtWork && isTyped && (await this.#joinTurn()) === "left") return 0;
      for (;;) {
        const prompt = await this.#prompt();
        if (prompt === "left") return isTyped ? 0 : 1;
        if (prompt === undefined || prompt.trim() === "/exit") return isTyped ? 0 : code;
        if (prompt.trim() === "") continue;
        const outcome = await this.#turn(prompt);
        if (outcome === "left") return isTyped ? 0 : 1;
        code = outcome?.reason === "completed" ? 0 : 1;
        if (outcome?.reason !== "completed" && !(await this.#goesOn())) return 1;
      }
    } finally {
      this.#end.abort();
      this.#lines.close();
    }
  }

  /** Sees the turn that runs already to its end, and its question. */
  async #joinTurn(): Promise<TurnOutcome | undefined> {
    const seq = await this.#lastSeq();
    // Asked in this order, the end of a turn that runs still is recorded behind the number.
    const { status, permissions, permit } = await this.#session();
    if (status !== "busy" && status !== "awaiting-input") return undefined;
    await this.#say("(A turn is running; Ctrl-C cancels it.)\n");
    this.#records = new Tap(this.#recordsBehind(seq), this.#bell);
    const [question] = permit === "ask" ? permissions : [];
    if (question !== undefined) await this.#ask(question);
    return this.#follow(seq, question, true);
  }

  async #lastSeq(): Promise<number> {
    const read = pageReader(this.#talked.server, this.#talked.id);
    for (let since = 0; ; ) {
      const { next, complete } = await read(since);
      if (complete || next === since) return next;
      since = next;
    }
  }

  /** The next line; undefined at the end of the input. */
  async #prompt(): Promise<string | undefined | "left"> {
    for (let warned = false; ; ) {
      await this.#lines.ask("> ");
      const next = await this.#next("line", "interrupt");
      if (next.what === "line") {
        if (next.line === undefined) await this.#say("\n");
        return next.line;
      }
      if (next.what !== "interrupt") continue;
      await this.#say("\n");
      if (warned || next.interrupt !== "stop" || !this.#context.input.isTerminal) return "left";
      warned = true;
      if (await this.#cancelOthers()) continue;
      await this.#say("(Ctrl-C again, or /exit, ends the chat.)\n");
    }
  }

  /** Cancels a turn that somebody else has started, if one runs. */
  async #cancelOthers(): Promise<boolean> {
    const { status } = await this.#session();
    if (status !== "busy" && status !== "awaiting-input") return false;
    await this.#say("(Cancelling the turn that runs; Ctrl-C again ends the chat.)\n");
    void this.#call("cancel", {});
    return true;
  }

  /** Sends a prompt and shows its turn; undefined when the session did not take it, which the user is told. */
  async #turn(prompt: string): Promise<TurnOutcome | undefined> {
    const seq = await this.#send(prompt);
    if (seq === undefined) return undefined;
    this.#records ??= new Tap(this.#recordsBehind(Math.max(0, seq - 1)), this.#bell);
    return this.#follow(seq, undefined, false);
  }

  /**
   * Shows the turn whose records stand behind `seq` to its end; `waiting` is the question that it waits for already. One
   * that is `joined` was started elsewhere: it can be left as it is.
   */
  async #follow(seq: number, waiting: ShownQuestion | undefined, joined: boolean): Promise<TurnOutcome> {
    let question = waiting;
    for (let cancelled = false; ; ) {
      const next = await (question === undefined && !joined
        ? this.#next("record", "interrupt")
        : this.#next("record", "interrupt", "line"));
      if (next.what === "record") {
        if (next.record === undefined) throw new Failure("failed", "the server has ended, and its sessions with it");
        const asked = await this.#questionAfter(question, next.record);
        if (asked === question || asked === undefined) await this.#show(next.record, seq);
        else await this.#ask(asked);
        question = asked;
        const { event } = next.record;
        if (event?.kind === "turn-end" && (next.record.seq ?? 0) > seq && event.reason !== "awaiting-input") {
          return { reason: event.reason };
        }
      } else if (next.what === "interrupt") {
        if (cancelled || next.interrupt !== "stop") return "left";
        cancelled = true;
        question = undefined;
        await this.#say("\n(Cancelling the turn; Ctrl-C again ends the chat.)\n");
        // An agent may take its time, and be left meanwhile.
        const cancelling = this.#call("cancel", {});
        if (this.#context.input.isTerminal) continue;
        await cancelling;
        return "left";
      } else {
        if (next.line === undefined || (question === undefined && next.line.trim() === "/exit")) return "left";
        if (question === undefined) {
          await this.#say("(The turn goes on: prompt again when it has ended, or cancel it with Ctrl-C.)\n");
          continue;
        }
        question = await this.#answer(question, next.line);
      }
    }
  }

  /** The question that waits to be answered here, after what was just recorded. */
  async #questionAfter(before: ShownQuestion | undefined, { event }: Record): Promise<ShownQuestion | undefined> {
    if (event?.kind === "permission-resolved" && event.toolCallId === before?.toolCallId) return undefined;
    if (event?.kind !== "agent-prompt") return before;
    const { toolCallId, options } = event;
    // All other sessions answer by their rule, at once. (One that was answered by now says so in the next record.)
    const { permit, permissions } = await this.#session();
    if (permit !== "ask") return before;
    if (this.#context.input.isTerminal) {
      return permissions.find((each) => each.toolCallId === toolCallId) ?? { toolCallId, title: undefined, options };
    }
    const words = `${answerCommand(this.#talked.caller, this.#talked.id, toolCallId)} OPTION`;
    await this.#context.terminal.err(`Waiting for an answer: ${words}\n`);
    return before;
  }

  /** Puts the question to who types. Nothing that was typed before it stood there is an answer to it. */
  async #ask(question: ShownQuestion): Promise<void> {
    await this.#say(askedLines(question));
    if (await this.#lines.fresh()) await this.#say(DROPPED);
    await this.#lines.ask(ANSWER_PROMPT);
  }

  /** Prints a record. What went wrong is told apart where the output is kept. */
  async #show(record: Record, own: number): Promise<void> {
    const { terminal } = this.#context;
    const { event } = record;
    if (event?.kind !== "error" || this.#talked.asJson || terminal.columns !== undefined) {
      return this.#print(record, own);
    }
    await terminal.err(`error: ${printableLine(event.error.message)}\n`);
  }

  /** Sends the answer that was typed; the question again when it is none. */
  async #answer(question: ShownQuestion, typed: string): Promise<ShownQuestion | undefined> {
    const { options, toolCallId } = question;
    const option = chosenOption(options, typed);
    if (option === undefined) {
      await this.#say(noSuchOption(options));
      await this.#lines.ask(ANSWER_PROMPT);
      return question;
    }
    await this.#call("permissions", { toolCallId, optionId: option.optionId });
    return undefined;
  }

  /** The number of the prompt's record; undefined when it was refused and the user, who can type another, was told. */
  async #send(prompt: string): Promise<number | undefined> {
    try {
      return asNumber(asObject(await this.#post("prompt", { prompt }))?.seq) ?? 0;
    } catch (error) {
      const isRefusal = error instanceof Failure && ["conflict", "bad-request", "body-too-large"].includes(error.kind);
      if (!isRefusal || !this.#context.input.isTerminal) throw error;
      await this.#tell(error);
      return undefined;
    }
  }

  /** Asks the server for something beside the turn, which goes on whatever it answers. */
  async #call(verb: string, body: object): Promise<void> {
    try {
      await this.#post(verb, body);
    } catch (error) {
      if (this.#end.signal.aborted) return;
      await this.#tell(error instanceof Failure ? error : new Failure("failed", String(error)));
    }
  }

  #post(verb: string, body: object): Promise<unknown> {
    const { server, id } = this.#talked;
    const terms = { signal: this.#end.signal, patienceMs: Number.POSITIVE_INFINITY };
    return callServer(server, "POST", pathOf("", "api", "sessions", id, verb), body, terms);
  }

  async #session(): Promise<ReturnType<typeof shownSession>> {
    const { server, id } = this.#talked;
    return shownSession(await callServer(server, "GET", pathOf("", "api", "sessions", id)));
  }

  /** Whether there is still someone to talk with; if not, the user is told why. */
  async #goesOn(): Promise<boolean> {
    const session = await this.#session();
    if (goesOn(session)) return true;
    const why = session.error === undefined ? "" : `: ${printableLine(session.error)}`;
    await this.#context.terminal.err(`The session has ended (${printableLine(session.status)})${why}\n`);
    return false;
  }

  async *#recordsBehind(seq: number): AsyncGenerator<Record, void> {
    const { server, id } = this.#talked;
    const path = pathOf("", "api", "sessions", id, "events", "stream");
    const { signal } = this.#end;
    for await (const { event, data } of serverEvents(server, path, { signal, lastEventId: String(seq) })) {
      if (event === undefined) yield parseRecord(data);
    }
  }

  /** The first of what is waited for. */
  async #next(...of: readonly Next["what"][]): Promise<Next> {
    for (;;) {
      for (const what of of) {
        const next = this.#come(what);
        if (next !== undefined) return next;
      }
      await this.#bell.listen(this.#end.signal);
    }
  }

  #come(what: Next["what"]): Next | undefined {
    switch (what) {
      case "line": {
        const line = this.#lines.take();
        return line && { what, line: line.value };
      }
      case "interrupt": {
        const interrupt = this.#lines.takeStop() ? "stop" : this.#talked.interrupts.take();
        return interrupt && { what, interrupt };
      }
      case "record": {
        const record = this.#records?.take();
        return record && { what, record: record.value };
      }
    }
  }

  async #tell({ message }: Failure): Promise<void> {
    const { terminal, program } = this.#context;
    await terminal.err(`${printableLine(program.said(asTyped(message)))}\n`);
  }

  /** Words for someone who types; a pipe needs none. */
  async #say(text: string): Promise<void> {
    if (this.#context.input.isTerminal) await this.#context.terminal.err(text);
  }
}
