import { latin1Head } from "../../jsonl/text.ts";

/** What the bytes of a line tell without parsing it. */
export interface LineHead {
  /** The type of its record where that may say something in a chat; `unsure` asks for a parse, `skip` for none. */
  readonly kind: "user" | "assistant" | "system" | "attachment" | "unsure" | "skip";
  /** It says near its start that it is a subagent's, in a file of its own or in its parent's. */
  readonly sidechain: boolean;
}

/** Envelope keys stand at the start of a line, save the type of an answer (2.1.3xx writes that behind the message). */
const HEAD_BYTES = 384;
/** Longer than any value that is looked for: a value that ends behind the head is not compared. */
const VALUE_BYTES = 24;
const TYPE = '"type":"';
const SUBTYPE = '"subtype":"';
const SIDECHAIN = '"isSidechain":';

const SHOWN_SUBTYPES = ['compact_boundary"', 'local_command"', 'api_error"'];

/**
 * Tells from a few hundred bytes whether a line can matter. It may take a line for one that matters which does not (that
 * costs a parse), never the other way: a line that holds a second record, glued on by a crash, is always parsed.
 */
export function readHead(line: Buffer): LineHead {
  const head = latin1Head(line, HEAD_BYTES);
  const kind = kindOf(line, head);
  return { kind: kind === "skip" && mayHoldAnother(line) ? "unsure" : kind, sidechain: sidechainIn(head) };
}

/** Whether a line was written with spaces behind its colons: by a program that copied or converted it, never by Claude Code. */
export function isSpaced(line: Buffer): boolean {
  return line.subarray(0, 64).includes('": ');
}

/** Whether `line` holds the bytes of `text`. */
export function holds(line: Buffer, text: string): boolean {
  return line.indexOf(text, 0, "latin1") >= 0;
}

function kindOf(line: Buffer, head: string): LineHead["kind"] {
  const at = head.indexOf(TYPE);
  if (at < 0 || (at + TYPE.length + VALUE_BYTES > head.length && line.length > head.length)) return kindByNeedles(line);
  const value = at + TYPE.length;
  const opened = head.indexOf("{", 1);
  if (opened >= 0 && opened < at) {
    // Not the record's own type but that of an object in it. Only answers hold a message as the API gives it.
    if (head.startsWith('message"', value)) return "assistant";
    if (!head.endsWith('"attachment":{', at)) return kindByNeedles(line);
    return head.startsWith('queued_command"', value) ? "attachment" : "skip";
  }
  if (head.startsWith('assistant"', value)) return "assistant";
  if (head.startsWith('user"', value)) return "user";
  if (head.startsWith('system"', value)) return systemKind(head, value);
  if (!head.startsWith('attachment"', value)) return "skip";
  return holds(line, '"type":"queued_command"') ? "attachment" : "skip";
}

function systemKind(head: string, from: number): LineHead["kind"] {
  const at = head.indexOf(SUBTYPE, from);
  if (at < 0 || at + SUBTYPE.length + VALUE_BYTES > head.length) return "system";
  return SHOWN_SUBTYPES.some((subtype) => head.startsWith(subtype, at + SUBTYPE.length)) ? "system" : "skip";
}

/** Quotes inside a text are escaped, so these bytes can only be keys and values of the record or of an object in it. */
function kindByNeedles(line: Buffer): LineHead["kind"] {
  if (holds(line, '"type":"assistant"')) return "assistant";
  if (holds(line, '"type":"user"')) return "user";
  if (holds(line, '"type":"system"')) return "system";
  if (holds(line, '"type":"queued_command"')) return "attachment";
  // Written by another hand, with spaces.
  return !holds(line, TYPE) && holds(line, '"type"') ? "unsure" : "skip";
}

function mayHoldAnother(line: Buffer): boolean {
  return line.indexOf('{"parentUuid"', 1, "latin1") > 0 || holds(line, '}{"') || line.includes(0);
}

function sidechainIn(head: string): boolean {
  const at = head.indexOf(SIDECHAIN);
  if (at <= 0) return false;
  const value = at + SIDECHAIN.length;
  const states = head.startsWith("true", value) || head.startsWith(" true", value);
  return states && !head.slice(1, at).includes("{");
}
