import { isNestedAtMost } from "../platform/read.ts";
import { resultText } from "../stores/recorded/value-text.ts";
import { clip } from "../transcript/clip.ts";
import { PrintableText, printableLine } from "../transcript/printable.ts";
import { summarise } from "../transcript/summary.ts";
import type { PermissionOption, SessionEvent } from "./event.ts";

/** Shows what happens in an agent session as text for a terminal, in colours. What agents say can't act on the terminal. */
export interface EventText {
  /** What to print for `event`, after all that was printed before; "" when it shows nothing. */
  show(event: SessionEvent): string;
}

/** For one session, from any point on. */
export function createEventText(): EventText {
  return new ShownEvents();
}

/** A line that tells of a call or its result is at most this long: characters. */
const LINE_CHARACTERS = 200;
/** Calls that are remembered at once: more are not open in any session. */
const MOST_CALLS = 256;
/** JSON that an agent nests deeper is not looked into. */
const MOST_LEVELS = 64;

interface ShownCall {
  readonly name: string;
  readonly summary: string;
  readonly isShown: boolean;
}

class ShownEvents implements EventText {
  /** The line that text is put on, by the kind of what streams. */
  #open: "text-delta" | "thought" | undefined;
  /** Whether something stands on that line. */
  #isBegun = false;
  readonly #text = new PrintableText();
  readonly #calls = new Map<string, ShownCall>();

  show(event: SessionEvent): string {
    if (event.kind === "text-delta" || event.kind === "thought") return this.#stream(event.kind, event.text);
    const shown = this.#standing(event);
    return shown === "" ? "" : this.#close() + shown;
  }

  #stream(kind: "text-delta" | "thought", text: string): string {
    const before = this.#open === kind ? "" : this.#close() + this.#announceAll();
    this.#open = kind;
    return before + this.#streamed(kind, this.#text.add(text));
  }

  #streamed(kind: "text-delta" | "thought", text: string): string {
    if (text === "") return "";
    this.#isBegun = !text.endsWith("\n");
    return kind === "thought" ? dim(text) : text;
  }

  /** Ends the text that streams, so that something else can stand on a line of its own. */
  #close(): string {
    if (this.#open === undefined) return "";
    const rest = this.#streamed(this.#open, this.#text.end());
    const end = this.#isBegun ? "\n" : "";
    this.#open = undefined;
    this.#isBegun = false;
    return rest + end;
  }

  #standing(event: Exclude<SessionEvent, { kind: "text-delta" | "thought" }>): string {
    switch (event.kind) {
      case "user-prompt":
        return prompt(event.text);
      case "tool-call":
        return this.#call(event);
      case "tool-result":
        return this.#announced(event.toolCallId) + this.#result(event.toolCallId, event.result, event.isError);
      case "agent-prompt":
        return this.#announced(event.toolCallId) + question(event.options);
      case "permission-resolved":
        return `${dim(decision(event.decision, event.optionId))}\n`;
      case "plan":
        return plan(event.entries, event.title);
      case "notice":
        return `${dim(line(event.text))}\n`;
      case "error":
        return `${red(`error: ${line(event.error.message)}`)}\n`;
      case "turn-end":
        return this.#turnEnd(event.reason);
      case "usage_update":
      case "usage_snapshot":
        return "";
    }
  }

  /** One line a call: as soon as its input tells something. As a later input has it, it is shown with what comes of it. */
  #call(event: Extract<SessionEvent, { kind: "tool-call" }>): string {
    const known = this.#calls.get(event.toolCallId);
    const name = line(event.toolName) || known?.name || "tool";
    const summary = summaryOf(name, event.arguments);
    const changed = known === undefined || (summary !== "" && summary !== known.summary);
    const call = { name, summary: summary || (known?.summary ?? ""), isShown: known?.isShown === true && !changed };
    const isFirst = known === undefined || known.summary === "";
    this.#remember(event.toolCallId, call);
    // An empty input is often the first of several, none at all is the only one.
    const isTold = summary !== "" || event.arguments === undefined || event.arguments === null;
    return isFirst && isTold ? this.#announced(event.toolCallId) : "";
  }

  /** The line of the call, unless it was shown just so. */
  #announced(id: string): string {
    const call = this.#calls.get(id);
    if (call === undefined || call.isShown) return "";
    this.#calls.set(id, { ...call, isShown: true });
    return `${yellow(`● ${call.name}`)}${call.summary === "" ? "" : ` ${call.summary}`}\n`;
  }

  #announceAll(): string {
    return [...this.#calls.keys()].map((id) => this.#announced(id)).join("");
  }

  #result(id: string, result: unknown, isError: boolean): string {
    this.#calls.delete(id);
    const first = firstLine(isNestedAtMost(MOST_LEVELS, result) ? resultText(result) : "");
    if (isError) return `  ${red(`✗ ${first ?? (result === null ? "no result" : "failed")}`)}\n`;
    return `  ${dim(`└ ${first ?? "done"}`)}\n`;
  }

  #turnEnd(reason: string): string {
    const left = this.#announceAll();
    this.#calls.clear();
    const words = `── ${line(reason)} ──`;
    return `${left}${reason === "completed" ? dim(words) : yellow(words)}\n`;
  }

  #remember(id: string, call: ShownCall): void {
    this.#calls.set(id, call);
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > MOST_CALLS && oldest !== undefined) this.#calls.delete(oldest);
  }
}

function prompt(text: string): string {
  const shown = new PrintableText();
  const lines = `${shown.add(text)}${shown.end()}`.trimEnd().split("\n");
  return `${lines.map((each, index) => green(`${index === 0 ? "❯" : " "} ${each}`)).join("\n")}\n`;
}

function question(options: readonly PermissionOption[]): string {
  const choices = options.map(({ optionId, name, kind }) => `  ${line(optionId)}  ${line(name)} ${dim(line(kind))}\n`);
  return `${yellow("? The agent asks for permission:")}\n${choices.join("")}`;
}

function decision(made: "approve" | "deny" | "cancelled", optionId: string | undefined): string {
  const words = { approve: "allowed", deny: "denied", cancelled: "not answered" }[made];
  return `  ${words}${optionId === undefined ? "" : ` (${line(optionId)})`}`;
}

function plan(entries: Extract<SessionEvent, { kind: "plan" }>["entries"], title: string | undefined): string {
  const steps = entries.map(({ content, status }) => `  ${SIGNS.get(status) ?? "○"} ${line(content)}\n`);
  return `${cyan(line(title ?? "") || "plan")}\n${steps.join("")}`;
}

const SIGNS: ReadonlyMap<string, string> = new Map([
  ["completed", "●"],
  ["in_progress", "◐"],
]);

/** What the call does, on one line; "" when its input says nothing yet. */
function summaryOf(name: string, input: unknown): string {
  if (!isNestedAtMost(MOST_LEVELS, input)) return "";
  const summary = line(summarise(name, input));
  return summary === "{}" || summary === "[]" || summary === "null" ? "" : summary;
}

/** The first line of `text` on which something stands. */
function firstLine(text: string): string | undefined {
  for (const [words] of text.matchAll(/\S[^\n]*/g)) {
    const shown = line(words);
    if (shown !== "") return shown;
  }
  return undefined;
}

/** On one line, of a length that a person reads. */
function line(text: string): string {
  // Cut twice: what is taken out of a text of megabytes is not looked for in all of it.
  return clip(printableLine(text.slice(0, LINE_CHARACTERS * 20)), LINE_CHARACTERS).text;
}

const paint =
  (on: number, off: number) =>
  (text: string): string =>
    `\u001b[${on}m${text}\u001b[${off}m`;
const dim = paint(2, 22);
const red = paint(31, 39);
const green = paint(32, 39);
const yellow = paint(33, 39);
const cyan = paint(36, 39);
