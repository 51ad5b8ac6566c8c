import { jsonText } from "../platform/read.ts";
import { clip } from "../transcript/clip.ts";
import type { ExportedCall, ExportedMessage } from "./model.ts";

/** Characters of HTML that one message may become: V8 holds no text of more than 536,870,888. */
const MOST_HTML = 480_000_000;
/** The longest answer that is rendered as Markdown; a longer one is shown as it was written. Characters. */
export const MOST_RENDERED = 16_000_000;

/** What one character becomes at most: `\&#34;`; and in Markdown, where it may be a cell of a table. */
const ESCAPED = 6;
const RENDERED = 30;

/**
 * The message, if it becomes no more than about `most` characters of HTML, as next to every one does; else with texts that are cut,
 * and say so where they end.
 */
export function fitting(message: ExportedMessage, most = MOST_HTML): ExportedMessage {
  const { role, text, reasoning, summary, toolCalls } = message;
  const room = new Room(most);
  const isRendered = role === "assistant" && text !== undefined && text.length <= MOST_RENDERED;
  const fitted: ExportedMessage = {
    ...message,
    ...(text !== undefined && { text: room.fit(text, isRendered ? RENDERED : ESCAPED) }),
    ...(reasoning !== undefined && { reasoning: room.fit(reasoning) }),
    ...(summary !== undefined && { summary: room.fit(summary) }),
    ...(toolCalls !== undefined && { toolCalls: toolCalls.map((call) => fittingCall(call, room)) }),
  };
  return room.isFull ? fitted : message;
}

function fittingCall(call: ExportedCall, room: Room): ExportedCall {
  const { input, summary } = call;
  const length = textLength(input);
  const taken = room.take(length);
  return {
    ...call,
    ...(taken < length && { input: cut(typeof input === "string" ? input : jsonText(input), taken) }),
    ...(summary !== undefined && { summary: room.fit(summary) }),
  };
}

/** What is left of the characters that a message may become. */
class Room {
  #left: number;
  isFull = false;

  constructor(most: number) {
    this.#left = most;
  }

  /** How many of `length` characters still fit, each of which becomes up to `each`. */
  take(length: number, each = ESCAPED): number {
    const taken = Math.min(length, Math.floor(this.#left / each));
    this.#left -= taken * each;
    this.isFull ||= taken < length;
    return taken;
  }

  fit(text: string, each = ESCAPED): string {
    return cut(text, this.take(text.length, each));
  }
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const shown = clip(text, most + 1).text;
  const more = (text.length - shown.length + 1).toLocaleString("en");
  return `${shown}\n\n(${more} more characters are too many for a page: export it as Markdown or JSON.)`;
}

/** About the characters of `value` as JSON, without the making of it. */
function textLength(value: unknown): number {
  let length = 0;
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string") length += next.length + 3;
    else if (typeof next !== "object" || next === null) length += 8;
    else {
      for (const [name, each] of Object.entries(next)) {
        length += name.length + 4;
        open.push(each);
      }
    }
  }
  return length;
}
