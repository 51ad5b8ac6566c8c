import { clip } from "../transcript/clip.ts";
import type { Cursor } from "../transcript/cursor.ts";
import type {
  AssistantEntry,
  Entry,
  MarkerEntry,
  ReasoningEntry,
  ToolCallEntry,
  ToolResultEntry,
} from "../transcript/entry.ts";
import type { ExportedCall, ExportedMessage } from "./model.ts";
import { noticeMessage } from "./notice.ts";
import { cutInput } from "./tool-input.ts";

/** A message, and what is known of its place in the chat. */
export interface BuiltMessage {
  readonly message: ExportedMessage;
  /** Where its first record stands. */
  readonly pos: Cursor;
  /** On a rewind: where what it takes back begins. */
  readonly takesBack?: Cursor;
}

/** What goes into messages. */
export interface MessageOptions {
  readonly reasoning: boolean;
  readonly maxToolChars?: number;
}

/** An answer that more may be added to. */
interface OpenAnswer {
  readonly pos: Cursor;
  readonly message: { -readonly [K in keyof ExportedMessage]: ExportedMessage[K] };
  calls: ExportedCall[] | undefined;
}

/**
 * Makes messages of entries that are handed over in the order of the chat: what an agent thought, said and called at a
 * stretch is one message, all else one each.
 */
export class MessageBuilder {
  readonly #options: MessageOptions;
  #answer: OpenAnswer | undefined;

  constructor(options: MessageOptions) {
    this.#options = options;
  }

  /** The messages that are complete with `entry`, in order. */
  add(entry: Entry): BuiltMessage[] {
    switch (entry.kind) {
      case "usage":
        return [];
      case "reasoning":
        return this.#options.reasoning ? this.#think(entry) : [];
      case "assistant":
        return this.#say(entry);
      case "tool-call":
        return entry.isNotice ? [...this.end(), { pos: entry.pos, message: noticeMessage(entry) }] : this.#call(entry);
      default:
        return [...this.end(), this.#other(entry)];
    }
  }

  /** The message that was still open. */
  end(): BuiltMessage[] {
    const answer = this.#answer;
    this.#answer = undefined;
    if (answer === undefined) return [];
    const { message, pos, calls } = answer;
    return [{ message: calls === undefined ? message : { ...message, toolCalls: calls }, pos }];
  }

  #think({ text, at, pos }: ReasoningEntry): BuiltMessage[] {
    const open = this.#answer;
    if (open !== undefined && open.message.text === undefined && open.calls === undefined) {
      open.message.reasoning = `${open.message.reasoning ?? ""}\n\n${text}`;
      return [];
    }
    const done = this.end();
    this.#answer = { pos, message: { role: "assistant", at, reasoning: text }, calls: undefined };
    return done;
  }

  #say({ text, at, pos, model }: AssistantEntry): BuiltMessage[] {
    const open = this.#answer;
    const goesOn = open !== undefined && open.message.text === undefined && open.calls === undefined;
    const done = goesOn ? [] : this.end();
    const answer = goesOn
      ? open
      : { pos, message: { role: "assistant", at } as OpenAnswer["message"], calls: undefined };
    answer.message.text = text;
    if (model !== undefined) answer.message.model = model;
    this.#answer = answer;
    return done;
  }

  #call(entry: ToolCallEntry): BuiltMessage[] {
    const { at, pos, tool, callId, summary, output, isError, isRunning } = entry;
    const { maxToolChars } = this.#options;
    const { input, cut } =
      maxToolChars === undefined ? { input: entry.input, cut: false } : cutInput(entry.input, maxToolChars);
    const answer = this.#answer ?? { pos, message: { role: "assistant", at }, calls: undefined };
    answer.calls ??= [];
    answer.calls.push({
      ...(callId !== undefined && { id: callId }),
      name: tool,
      ...(input !== undefined && { input }),
      ...(summary !== undefined && { summary }),
    } as ExportedCall);
    if (cut) answer.message.cut = true;
    this.#answer = answer;
    if (output === undefined && !isError && !isRunning) return [];
    return [...this.end(), { pos, message: this.#output({ ...entry, text: output, isRunning }) }];
  }

  #other(entry: Exclude<Entry, { kind: "usage" | "reasoning" | "assistant" | "tool-call" }>): BuiltMessage {
    const { at, pos } = entry;
    switch (entry.kind) {
      case "user":
        return { pos, message: { role: "user", at, text: entry.text } };
      case "tool-result":
        return { pos, message: this.#output(entry) };
      case "subagent":
        return { pos, message: { role: "system", at, subagent: entry.subagent } };
      case "marker":
        return {
          pos,
          message: markerMessage(entry),
          ...(entry.takesBack !== undefined && { takesBack: entry.takesBack }),
        };
    }
  }

  #output(given: Pick<ToolResultEntry, "at" | "tool" | "callId" | "isError"> & Output): ExportedMessage {
    const { at, tool, callId, isError, isRunning } = given;
    const { maxToolChars } = this.#options;
    const text = given.text === undefined || maxToolChars === undefined ? undefined : clip(given.text, maxToolChars);
    return {
      role: "tool",
      at,
      ...(tool !== undefined && { toolName: tool }),
      ...(callId !== undefined && { toolCallId: callId }),
      ...(given.text !== undefined && { text: text?.text ?? given.text }),
      ...(isError && { isError: true as const }),
      ...(isRunning && { isRunning }),
      ...(text?.cut && { cut: true as const }),
    };
  }
}

interface Output {
  readonly text?: string | undefined;
  readonly isRunning?: true | undefined;
}

function markerMessage({ at, marker, summary, text, isError }: MarkerEntry): ExportedMessage {
  const said = text ?? summary;
  return {
    role: "system",
    at,
    marker,
    ...(said !== undefined && { text: said }),
    ...(text !== undefined && summary !== undefined && { summary }),
    ...(isError && { isError: true as const }),
  };
}
